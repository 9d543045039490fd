/* RMA-RW, as crates/rma-locks/src/rw.rs and queue.rs have it: Schmid, Besta, Hoefler: High-performance distributed
 * RMA locks, HPDC 2016, in the phase-fair form. README.md says what is checked; check.py runs it.
 *
 * One operation on remote memory is one step. Puts that the source flushes at once take effect at once; the two adds of
 * the reset take effect in either order, as the source allows.
 *
 * Parameters (-D):  WRITERS READERS LEVELS FAN COUNTERS T_L T_W   the sizes; FAN writers an element of level N,
 *                                                                 FAN elements an element of the level above
 *                   ROUNDS      acquisitions of each process; 0: for ever
 *                   T_R         for LISTING_9 alone
 * What is checked:  BYPASS      bounds on bypassing, with one level
 * The paper's text: NODE_OF_RANK    Listings 4, 5, 7, 8: above level N a process waits by its own node
 *                   WRITER_ENTERS   Listing 7: a writer marks the counters and enters
 *                   NO_PHASE        Listings 7 and 8: no phase
 *                   LISTING_9       readers as printed, which reset counters (with `done = true`, which is not there)
 *                   NOT_DONE        ... without it
 *                   PRINTED         NODE_OF_RANK, WRITER_ENTERS and LISTING_9
 */

#ifdef PRINTED
#define NODE_OF_RANK
#define WRITER_ENTERS
#define LISTING_9
#endif

/* Counts are compared for equality alone, and differ by at most READERS, so they may be taken modulo more. */
#define MODULO 4
#if READERS >= MODULO
#error too many readers for MODULO
#endif

/* Statuses: passings in a row, and these. */
#define WAIT 255
#define ACQUIRE_PARENT 254
#define MODE_CHANGE 253
#define START 0

/* Levels count from 1, the whole machine. FAN writers share an element of level LEVELS, and so on upwards. */
#define WIDTH(l) (((l) == LEVELS) -> FAN : (((l) + 1 == LEVELS) -> FAN * FAN : FAN * FAN * FAN))
#define ELEMENT(p, l) (((l) == 1) -> 0 : (p) / WIDTH(l))
#ifdef NODE_OF_RANK
#define NODE(p, l) (p)
#else
#define NODE(p, l) (((l) == LEVELS) -> (p) : ELEMENT(p, (l) + 1))
#endif
#define AT(l, i) (((l) - 1) * WRITERS + (i))

#define NODES (LEVELS * WRITERS + 1)
byte next[NODES];
byte status[NODES];
byte tail[NODES];

#ifdef LISTING_9
#define BIAS 64
short arrive[COUNTERS];
short depart[COUNTERS];
#else
/* The fields of the word ARRIVE. */
byte count[COUNTERS];
bit write[COUNTERS];
bit phase[COUNTERS];
byte depart[COUNTERS];
#endif

/* Who is inside. */
byte writers_inside;
byte readers_inside;
/* For the properties of liveness: process 0 of each kind wants to enter. */
bool writer_wants, reader_wants;
#ifdef BYPASS
byte passed_writer, passed_reader;
bool writer_counts, reader_counts;
#endif

#if ROUNDS == 0
#define MORE true
#define COUNT_ROUND skip
#else
#define MORE (round < ROUNDS)
#define COUNT_ROUND round++
#endif

inline enter_as_writer() {
    atomic {
        writers_inside++;
        assert(writers_inside == 1 && readers_inside == 0);
#ifdef BYPASS
        if
        :: p == 0 -> writer_counts = false; passed_writer = 0
        :: p != 0 && writer_counts -> passed_writer++; assert(passed_writer <= WRITERS - 1)
        :: else
        fi;
        if
        :: reader_counts -> passed_reader++; assert(passed_reader <= T_W)
        :: else
        fi;
#endif
        if
        :: p == 0 -> writer_wants = false
        :: else
        fi
    }
    writers_inside--
}

/* reset_counter, but for the listing's reader: let_readers_in in rw.rs. */
inline let_readers_in() {
    c = 0;
    do
    :: c < COUNTERS ->
#ifdef LISTING_9
        reset_counter(c);
#else
        gone = depart[c];
        /* The adds in either order. */
        if
        :: d_step { let_in(c) }; depart[c] = (depart[c] + MODULO - gone) % MODULO
        :: depart[c] = (depart[c] + MODULO - gone) % MODULO; d_step { let_in(c) }
        fi;
#endif
        c++
    :: else -> break
    od;
    c = 0; gone = 0
}

#ifdef LISTING_9
inline reset_counter(k) {
    came = arrive[k];
    gone = depart[k];
    sub = gone;
    if
    :: came >= BIAS -> sub = sub + BIAS
    :: else
    fi;
    arrive[k] = arrive[k] - sub;
    depart[k] = depart[k] - gone;
    came = 0; gone = 0; sub = 0
}
#else
inline let_in(k) {
    write[k] = 0;
#ifndef NO_PHASE
    phase[k] = 1 - phase[k];
#endif
    count[k] = (count[k] + MODULO - gone) % MODULO
}
#endif

inline keep_readers_out() {
    c = 0;
    do
    :: c < COUNTERS ->
#ifdef LISTING_9
        arrive[c] = arrive[c] + BIAS;
#else
        d_step { target[c] = count[c]; write[c] = 1 }
#endif
        c++
    :: else -> break
    od;
    c = 0;
#ifndef WRITER_ENTERS
    do
    :: c < COUNTERS ->
#ifdef LISTING_9
        (depart[c] == arrive[c] - BIAS);
#else
        (depart[c] == target[c]);
        target[c] = 0;
#endif
        c++
    :: else -> break
    od;
    c = 0
#endif
}

/* Leaves the queue of level l, or passes `st` to the successor. succ is what NEXT held. */
inline leave() {
    if
    :: succ == 0 ->
        d_step {
            if
            :: tail[AT(l, ELEMENT(p, l))] == NODE(p, l) + 1 -> tail[AT(l, ELEMENT(p, l))] = 0; alone = true
            :: else -> alone = false
            fi
        }
        if
        :: alone
        :: else ->
            (next[AT(l, NODE(p, l))] != 0);
            succ = next[AT(l, NODE(p, l))];
            status[AT(l, succ - 1)] = st
        fi;
        alone = false
    :: else -> status[AT(l, succ - 1)] = st
    fi;
    succ = 0
}

proctype writer(byte p) {
    byte l, st, pred, succ, c, first;
    bool alone;
#if ROUNDS > 0
    byte round;
#endif
#ifdef LISTING_9
    short came, gone, sub;
#else
    byte gone;
    byte target[COUNTERS];
#endif
    do
    :: MORE ->
        COUNT_ROUND;
        if
        :: p == 0 -> writer_wants = true
        :: else
        fi;
        l = LEVELS;
climb:
        /* Nobody reads these before the swap. */
        atomic { next[AT(l, NODE(p, l))] = 0; status[AT(l, NODE(p, l))] = WAIT }
        d_step {
            pred = tail[AT(l, ELEMENT(p, l))];
            tail[AT(l, ELEMENT(p, l))] = NODE(p, l) + 1;
#ifdef BYPASS
            if
            :: p == 0 -> writer_counts = true
            :: else
            fi
#endif
        }
        if
        :: pred == 0 -> st = MODE_CHANGE
        :: else ->
            next[AT(l, pred - 1)] = NODE(p, l) + 1;
            pred = 0;
            (status[AT(l, NODE(p, l))] != WAIT);
            st = status[AT(l, NODE(p, l))]
        fi;
        if
        :: st < MODE_CHANGE -> st = 0; goto inside
        :: else -> st = 0
        fi;
        if
        :: l > 1 ->
            status[AT(l, NODE(p, l))] = START;
            l--;
            goto climb
        :: else ->
            keep_readers_out();
            status[AT(1, NODE(p, 1))] = START
        fi;
inside:
        enter_as_writer();
        /* Release: the lowest level where the lock may be passed on. */
        l = LEVELS;
        do
        :: l >= 2 ->
            succ = next[AT(l, NODE(p, l))];
            st = status[AT(l, NODE(p, l))];
            if
            :: succ != 0 && st < T_L ->
                status[AT(l, succ - 1)] = st + 1;
                first = l + 1;
                break
            :: else -> l--
            fi
        :: else ->
            /* Listing 8. */
            st = status[AT(1, NODE(p, 1))] + 1;
#ifdef LISTING_9
            /* As printed: the counters are reset before the successor is looked for. */
            if
            :: st == T_W -> let_readers_in(); st = MODE_CHANGE
            :: else
            fi;
            succ = next[AT(1, NODE(p, 1))];
            if
            :: succ == 0 && st != MODE_CHANGE -> let_readers_in(); st = MODE_CHANGE
            :: else
            fi;
#else
            succ = next[AT(1, NODE(p, 1))];
            if
            :: st < T_W && succ != 0
            :: else -> let_readers_in(); st = MODE_CHANGE
            fi;
#endif
            l = 1;
            leave();
            first = 2;
            break
        od;
        /* The queues below, whose next ones have to enter the parent's themselves. */
        l = first;
        st = ACQUIRE_PARENT;
        do
        :: l <= LEVELS ->
            succ = next[AT(l, NODE(p, l))];
            leave();
            l++
        :: else -> break
        od;
        l = 0; st = 0; first = 0; succ = 0
    :: else -> break
    od
}

#define MINE (p % COUNTERS)

proctype reader(byte p) {
#ifdef LISTING_9
    short now, came, gone, sub;
    bool done, barrier;
#else
    bool waits;
    bit before;
#endif
#if ROUNDS > 0
    byte round;
#endif
    do
    :: MORE ->
        COUNT_ROUND;
        if
        :: p == 0 -> reader_wants = true
        :: else
        fi;
#ifdef LISTING_9
        done = false; barrier = false;
        do
        :: !done ->
            if
            :: barrier -> (arrive[MINE] < T_R)
            :: else
            fi;
            d_step { now = arrive[MINE]; arrive[MINE] = arrive[MINE] + 1 }
            if
            :: now >= T_R ->
                barrier = true;
                if
                :: now == T_R ->
                    if
                    :: tail[AT(1, 0)] == 0 -> reset_counter(MINE); barrier = false
                    :: else
                    fi
                :: else
                fi;
                arrive[MINE] = arrive[MINE] - 1
            :: else ->
#ifndef NOT_DONE
                done = true
#else
                skip
#endif
            fi;
            now = 0
        :: else -> break
        od;
#else
        d_step {
            waits = write[MINE];
            before = phase[MINE];
            count[MINE] = (count[MINE] + 1) % MODULO;
#ifdef BYPASS
            if
            :: p == 0 && waits -> reader_counts = true
            :: else
            fi
#endif
        }
        if
        :: waits -> (write[MINE] == 0 || phase[MINE] != before)
        :: else
        fi;
        d_step { waits = false; before = 0 }
#endif
        atomic {
            readers_inside++;
            assert(writers_inside == 0);
#ifdef BYPASS
            if
            :: p == 0 -> reader_counts = false; passed_reader = 0
            :: else
            fi;
#endif
            if
            :: p == 0 -> reader_wants = false
            :: else
            fi
        }
        readers_inside--;
#ifdef LISTING_9
        depart[MINE] = depart[MINE] + 1
#else
        depart[MINE] = (depart[MINE] + 1) % MODULO
#endif
    :: else -> break
    od
}

init {
    byte i;
    atomic {
        i = 0;
        do
        :: i < WRITERS -> run writer(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < READERS -> run reader(i); i++
        :: else -> break
        od;
        i = 0
    }
}

#ifdef LIVENESS
ltl writer_enters { [] (writer_wants -> <> !writer_wants) }
ltl reader_enters { [] (reader_wants -> <> !reader_wants) }
#endif
