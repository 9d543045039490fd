//! A picture as pixels, for viewers without SVG: `rsvg-convert` renders the SVG file.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use crate::error::BenchError;

/// Librsvg's program, which knows the fonts of the machine.
const CONVERTER: &str = "rsvg-convert";
/// Pixels a unit of the drawing, whose lines are one unit thick.
const SCALE: &str = "2";

/// Renders `svg` into a PNG file beside it; without a picture there is nothing to do.
///
/// # Errors
///
/// If the converter is not there, or fails.
pub(crate) fn beside(svg: &Path) -> Result<(), BenchError> {
    by(CONVERTER, svg)
}

fn by(converter: &str, svg: &Path) -> Result<(), BenchError> {
    if !svg.exists() {
        return Ok(());
    }
    let png = svg.with_extension("png");
    let failed = |why: String| BenchError::Picture { path: png.clone(), why };
    let run = Command::new(converter).args(["--zoom", SCALE, "--output"]).arg(&png).arg(svg).output();
    let ended = run.map_err(|error| match error.kind() {
        ErrorKind::NotFound => failed(format!(
            "there is no {converter} here; install it (Debian: librsvg2-bin), or use {}",
            svg.display()
        )),
        _ => failed(format!("{converter} cannot be run: {error}")),
    })?;
    if ended.status.success() {
        return Ok(());
    }
    Err(failed(format!("{converter} failed: {}", String::from_utf8_lossy(&ended.stderr).trim())))
}

#[cfg(test)]
mod tests {
    use super::{beside, by};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_png_appears_beside_the_svg() {
        let folder = tempfile::tempdir().expect("a folder");
        let (svg, converter) = (folder.path().join("picture.svg"), folder.path().join("converter"));
        fs::write(&svg, "<svg/>").expect("written");
        fs::write(&converter, "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$4\"\n").expect("written");
        fs::set_permissions(&converter, fs::Permissions::from_mode(0o755)).expect("executable");
        by(converter.to_str().expect("a name"), &svg).expect("rendered");
        let told = fs::read_to_string(svg.with_extension("png")).expect("the file");
        let png = svg.with_extension("png");
        assert_eq!(
            told.lines().collect::<Vec<_>>(),
            ["--zoom", "2", "--output", &*png.to_string_lossy(), &*svg.to_string_lossy()]
        );
    }

    #[test]
    fn what_is_missing_and_what_fails_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let svg = folder.path().join("picture.svg");
        fs::write(&svg, "<svg/>").expect("written");
        let missing = by("no-such-converter", &svg).expect_err("it is not there").to_string();
        assert!(missing.contains("install it (Debian: librsvg2-bin)"), "{missing}");
        let fails = by("false", &svg).expect_err("it fails").to_string();
        assert!(fails.contains("false failed"), "{fails}");
    }

    #[test]
    fn without_a_picture_nothing_happens() {
        let folder = tempfile::tempdir().expect("a folder");
        beside(&folder.path().join("no.svg")).expect("nothing to do");
        assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 0);
    }
}
