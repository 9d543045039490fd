//! A picture as pixels, for viewers without SVG: it renders the SVG file, in pure Rust,
//! with a font of this machine.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::error::BenchError;

/// Pixels a unit of the drawing, whose lines are one unit thick.
const SCALE: f32 = 2.0;

/// Renders `svg` into a PNG file beside it; without a picture there is nothing to do.
///
/// # Errors
///
/// If there is no font here, or a file cannot be read or written.
pub(crate) fn beside(svg: &Path) -> Result<(), BenchError> {
    if !svg.exists() {
        return Ok(());
    }
    let png = svg.with_extension("png");
    let failed =
        |why: &dyn std::fmt::Display| BenchError::Picture { path: png.clone(), why: why.to_string() };
    let drawing = fs::read(svg).map_err(BenchError::file("read", svg))?;
    let options =
        Options { fontdb: Arc::new(fonts().ok_or_else(|| failed(&NO_FONT))?), ..Options::default() };
    let tree = Tree::from_data(&drawing, &options).map_err(|e| failed(&e))?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or_else(|| failed(&"it has no size"))?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or_else(|| failed(&"it is too large"))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.save_png(&png).map_err(|e| failed(&e))
}

const NO_FONT: &str = "this machine has no font; install one (Debian: fonts-dejavu-core) or use the SVG file";

/// The machine's fonts, of which one serves as the drawing's `sans-serif`.
fn fonts() -> Option<fontdb::Database> {
    let mut fonts = fontdb::Database::new();
    fonts.load_system_fonts();
    let sans = fontdb::Query { families: &[fontdb::Family::SansSerif], ..fontdb::Query::default() };
    if fonts.query(&sans).is_none() {
        let plain = |face: &&fontdb::FaceInfo| face.style == fontdb::Style::Normal && !face.monospaced;
        let family = |face: &fontdb::FaceInfo| face.families.first().map(|(name, _)| name.clone());
        let by_name = |face: &&fontdb::FaceInfo| family(face).is_some_and(|name| name.ends_with("Sans"));
        let face = fonts.faces().filter(plain).find(by_name).or_else(|| fonts.faces().next())?;
        let family = family(face)?;
        fonts.set_sans_serif_family(family);
    }
    Some(fonts)
}

#[cfg(test)]
mod tests {
    use super::{beside, fonts};
    use std::fs;

    const SVG: &str = r#"<svg width="40" height="20" viewBox="0 0 40 20" xmlns="http://www.w3.org/2000/svg">
        <rect width="40" height="20" fill="white"/>
        <text x="2" y="15" font-family="sans-serif" font-size="12" fill="black">MW</text></svg>"#;

    #[test]
    fn a_png_appears_beside_the_svg_and_shows_its_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let svg = folder.path().join("picture.svg");
        fs::write(&svg, SVG).expect("written");
        if fonts().is_none() {
            let error = beside(&svg).expect_err("no font").to_string();
            assert!(error.contains("font"), "{error}");
            return;
        }
        beside(&svg).expect("rendered");
        let png = fs::read(svg.with_extension("png")).expect("the file");
        let pixels = resvg::tiny_skia::Pixmap::decode_png(&png).expect("a PNG");
        assert_eq!((pixels.width(), pixels.height()), (80, 40));
        let dark = pixels.pixels().iter().filter(|pixel| pixel.red() < 64).count();
        assert!(dark > 20, "{dark} dark pixels");
    }

    #[test]
    fn without_a_picture_nothing_happens() {
        let folder = tempfile::tempdir().expect("a folder");
        beside(&folder.path().join("picture.svg")).expect("nothing to do");
        assert!(!folder.path().join("picture.png").exists());
    }
}
