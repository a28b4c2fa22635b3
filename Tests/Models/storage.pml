/*
 * The writes of a vault that is kept in a database: N processes with a handle each, a reader, and a server that has
 *
 *   vault(version, length, tail)      one row: which snapshot, its length with all entries, and the last 32 bytes
 *   piece(version, start, bytes)      the snapshot (start 0) and the entries behind it; (version, start) is the key
 *
 * A write:  1  begin; select version, length, tail from vault for update                            the lock
 *              select the pieces behind the known end, in a statement of its own                    take over
 *           2  seal an entry behind what is there, or make a new snapshot, which has the next version
 *           3  insert the piece; update the row; delete the pieces of other versions; commit
 * A read:      the row, the pieces behind the known end and the bytes before it, in one statement
 *
 * If the answer to 3 does not arrive, the writer locks and takes over again. The own entry or snapshot is there: done.
 * Version, length and tail are unchanged: send the same bytes again. The position is there, with the entries of others
 * behind it: nothing was written, so begin again or say so. Anything else: the outcome is unknown (durabilityUnknown).
 *
 * A fail-over to a replica that misses the newest commits begins another timeline of the server. On another timeline
 * than that on which 3 was sent only the first two cases are certain: what was sent may have been there for a while. A
 * handle reports that what it has seen may be lost if the bytes before its known end differ, if it finds a new version
 * on another timeline, or if the generations have not grown with the version.
 *
 * Scripts/model checks these properties with spin, in every order of the steps and with every outcome of each:
 *
 *   lostWrite              what is committed stays, and what is acknowledged is there (until a fail-over)
 *   writtenTwice           no change is committed twice
 *   pieceMissing           each statement sees the pieces of one version without a gap, up to its length and its tail
 *   refusedByReaders       an entry was sealed behind just what is before it; otherwise readers would refuse the vault
 *   changedThoughFailed    a write that was reported as failed was never there and never will be
 *   revisionWonTwice       no two writes are acknowledged with one revision (until a fail-over)
 *   silentOnOtherHistory   a handle that has seen what is no longer there reports it
 *   falseAlarm             a handle reports nothing if there was no fail-over
 *
 * and that no process waits for ever, because each lock is released: otherwise there is an "invalid end state".
 *
 * Faults, at most FAULTS in one run: a process ends; a connection is cut, of which the server learns later, so that it
 * may carry out what it has received, or not; the server ends the session of a stopped process that has the lock; the
 * server is killed, and starts again; a statement fails. Fail-overs, at most FAILOVERS.
 *
 * Mistakes, each of which must be found:
 *
 *   NO_LOCK           1 does not lock
 *   GUARDED           1 does not lock, but 3 compares version, length and tail: compare-and-set in place of the lock
 *   SEALED_BEFORE     2 comes before 1
 *   LOCKED_AND_READ   1 is one statement: it waits for the row, and then shows the pieces as they were before the wait
 *   RECONNECTED       3 is sent through a new connection if that of 1 is gone
 *   LOCK_KEPT         the lock does not end with the connection
 *   TWO_STATEMENTS    a read has two
 *   DELETED_BEFORE    the old pieces are deleted in a transaction of their own, before 3
 *   DELETED_AFTER     the same, after 3
 *   LAST_TAIL         a handle compares its tail with that of the row, even if entries were added
 *   CALLED_FAILED     a lost answer is a failed write
 *   BLIND             after a lost answer the write begins again, without looking
 *   REPLACED          after a lost answer a snapshot is made of what was there before and the entry, without looking
 *   OWN_BY_VERSION    a snapshot with the next version is the own one
 *   OWN_BY_LENGTH     an entry at the place of the own one is the own one
 *
 * and with a fail-over:
 *
 *   LENGTH_ONLY       the same bytes are sent again if version and length are unchanged: the tail is not compared
 *   NO_TAIL           a handle compares version and length only
 *   TAIL_OF_ROW       a handle compares the tail only if nothing was added
 *   NO_TIMELINE       a handle does not compare the timeline
 *   SETTLED_ANYWHERE  a writer does not compare the timeline
 *
 * Every piece has length 1, also a snapshot, so that lengths help to distinguish nothing. An id stands for the last 32
 * bytes of a piece, which no other piece has, because a seal has a random nonce. All bytes are those of one group.
 *
 * Not modelled: disks that lie; two servers that both accept writes; an administrator who edits rows, which the checks
 * of readers are for; isolation other than "read committed", with which a statement behind the lock sees all that was
 * committed before the lock was granted; creating and removing a vault; several changes in one entry; reads of a
 * replica; and durations: every wait may end at any moment.
 *
 * Three reductions. Processes begin in the order of their numbers, because they are alike. One that never has the lock
 * is like one that is not there. A killed server is there again at once, because nothing happens while it is away.
 */

#ifndef N
#define N 3
#endif
#ifndef WRITES
#define WRITES 1        /* of each process */
#endif
#ifndef READS
#define READS 1
#endif
#ifndef FAULTS
#define FAULTS 1
#endif
#ifndef FAILOVERS
#define FAILOVERS 0
#endif
#ifndef TRIES
#define TRIES 2         /* how often a write is sealed, and how often it is looked for */
#endif
#define VERSIONS 3
#define LENGTH (1 + N * WRITES)
#define FIRST 1         /* the id of the first snapshot */

#define change(w) (1 << ((w) * WRITES + write))
#define newId(w) (FIRST + 1 + ((w) * WRITES + write) * TRIES + seals)
#define ONE(x, n) (((x) >> n) & 1)
#define COUNT(x) (ONE(x, 0) + ONE(x, 1) + ONE(x, 2) + ONE(x, 3) + ONE(x, 4) + ONE(x, 5))

/* What is committed. `content` has a bit for each change; only properties and revisions use it. */
typedef Rows { byte version, length, tail, content; byte piece[VERSIONS * LENGTH] }
#define at(version, start) piece[(version) * LENGTH + (start)]
Rows rows;
#if FAILOVERS > 0
Rows replica;
#endif
byte timeline, faults, begun;

/* What a writer sends in 3: behind which position, the id of the piece, and the content with it. */
typedef Sent { bool isSnapshot; byte version, start, tail, id, change, content }
Sent sent[N], late[N];      /* `late`: the client has lost the connection, but the server has not carried it out yet */

/* Whose session has the lock: 0 if none, or a session that its client has lost. */
byte holder;
#define SESSION(w) (1 + (w))
#define ABANDONED(w) (1 + N + (w))

/* A connection: no transaction; the lock is held; 3 was sent; its answers; broken, which the client has not noticed. */
#define IDLE 0
#define HELD 1
#define SENT 2
#define COMMITTED 3
#define REFUSED 4
#define BROKEN 5
byte connection[N];
bool isDead[N];

/* What a handle knows of the vault; the last one is the reader's. */
typedef Known { byte version, length, timeline, content; byte piece[LENGTH] }
Known known[N + 1];

/* The changes that were acknowledged, reported as failed, and committed at any time; the acknowledged revisions. */
byte done, failed, ever, won;
bool lostWrite, writtenTwice, pieceMissing, refusedByReaders, changedThoughFailed, revisionWonTwice;
bool silentOnOtherHistory, falseAlarm;
#define never(property, condition) property = (condition); assert(!property)

#define each(count, body) i = 0; do :: i < (count) -> body; i++ :: else -> break od; i = 0
#define when(condition, body) if :: condition -> body :: else fi

#include "server.pml"

/* MARK: A handle */

#define lastKnown(h) known[h].piece[known[h].length - 1]
#if defined(NO_TAIL)
#define isTailKnown(h) true
#elif defined(LAST_TAIL)
#define isTailKnown(h) (rows.tail == lastKnown(h))
#elif defined(TAIL_OF_ROW)
#define isTailKnown(h) (rows.length > known[h].length || rows.tail == lastKnown(h))
#else
#define isTailKnown(h) (rows.at(known[h].version, known[h].length - 1) == lastKnown(h))
#endif
#ifdef NO_TIMELINE
#define isTimelineKnown(h) true
#else
#define isTimelineKnown(h) (timeline == known[h].timeline)
#endif

/* What one statement returns becomes what the handle knows. */
inline takeOver(h) {
  checkPieces();
  if
  :: rows.version == known[h].version && rows.length >= known[h].length && isTailKnown(h) ->
    /* Nothing, or added entries. */
    each(known[h].length, never(silentOnOtherHistory, known[h].piece[i] != rows.at(rows.version, i)))
  :: else ->
    if
    :: rows.version > known[h].version && COUNT(rows.content) > COUNT(known[h].content) && isTimelineKnown(h) ->
      /* Replaced, with higher generations. */
      never(silentOnOtherHistory, (known[h].content & ~rows.content) != 0)
    :: else ->
      /* Reports that something may be lost. */
      never(falseAlarm, timeline == 0)
    fi
  fi;
  known[h].version = rows.version; known[h].length = rows.length;
  known[h].timeline = timeline; known[h].content = rows.content;
  each(LENGTH, known[h].piece[i] = (i < rows.length -> rows.at(rows.version, i) : 0))
}

inline takeOverOwn(w) {
  if
  :: sent[w].isSnapshot ->
    known[w].version++; known[w].length = 1;
    each(LENGTH, known[w].piece[i] = (i == 0 -> sent[w].id : 0))
  :: else -> known[w].piece[known[w].length] = sent[w].id; known[w].length++
  fi;
  known[w].content = sent[w].content
}

inline close(h) {
  known[h].version = 0; known[h].length = 0; known[h].timeline = 0; known[h].content = 0;
  each(LENGTH, known[h].piece[i] = 0)
}

/* MARK: A writer */

#if defined(NO_LOCK) || defined(GUARDED)
#define mayLock true
#define lock(w) skip
#else
#define mayLock (holder == 0)
#define lock(w) holder = SESSION(w)
#endif

inline seal() {
  sent[w].version = known[w].version; sent[w].start = known[w].length; sent[w].tail = lastKnown(w);
  sent[w].id = newId(w); sent[w].change = change(w);
#ifndef SEALED_BEFORE
  sent[w].content = known[w].content | change(w);
#endif
  seals++
}

#define isPlaceKnown (rows.version == sent[w].version && rows.length > sent[w].start \
  && rows.at(sent[w].version, sent[w].start - 1) == sent[w].tail)
#ifdef OWN_BY_VERSION
#define isOwnSnapshot (rows.version == sent[w].version + 1)
#else
#define isOwnSnapshot (rows.version == sent[w].version + 1 && rows.at(rows.version, 0) == sent[w].id)
#endif
#ifdef OWN_BY_LENGTH
#define isOwnEntry (rows.version == sent[w].version && rows.length > sent[w].start)
#else
#define isOwnEntry (rows.version == sent[w].version && rows.length > sent[w].start \
  && rows.at(rows.version, sent[w].start) == sent[w].id)
#endif
#ifdef LENGTH_ONLY
#define isUnchanged (rows.version == sent[w].version && rows.length == sent[w].start)
#else
#define isUnchanged (rows.version == sent[w].version && rows.length == sent[w].start && rows.tail == sent[w].tail)
#endif
#ifdef SETTLED_ANYWHERE
#define isWhereSent true
#else
#define isWhereSent (timeline == sentOn)
#endif

inline acknowledge() {
  d_step {
    done = done | sent[w].change;
    if
    :: timeline == 0 ->
      never(revisionWonTwice, ((won >> COUNT(sent[w].content)) & 1) != 0);
      won = won | (1 << COUNT(sent[w].content));
      never(lostWrite, (done & ~rows.content) != 0)
    :: else -> never(lostWrite, (sent[w].change & ~rows.content) != 0)
    fi
  }
}

inline fail() {
  d_step { failed = failed | change(w); never(changedThoughFailed, (failed & ever) != 0) }
}

/* Says that the write failed, or that its outcome is unknown. */
inline giveUp() { when(!isUncertain, fail()) }

proctype Writer(byte w) {
  byte write, seals, looks, i;
  bool isUncertain;           /* what was sent may be committed, or may have been */
  byte sentOn;                /* the timeline on which that was sent first */
  bool isFound, isSame, isTaken;
#ifdef LOCKED_AND_READ
  byte seenVersion, seenLength;
#endif
  {
  do
  :: write == WRITES -> break
  :: else ->
begin:
#ifdef SEALED_BEFORE
    sent[w].content = known[w].content | change(w);
#endif
#ifdef LOCKED_AND_READ
    atomic { seenVersion = rows.version; seenLength = rows.length };
#endif
    if
    :: atomic {
        mayLock && seals < TRIES && begun >= w ->
        when(begun == w, begun++);
        lock(w); connection[w] = HELD;
#ifdef LOCKED_AND_READ
        never(pieceMissing, rows.version != seenVersion || rows.length != seenLength);
        seenVersion = 0; seenLength = 0;
#endif
        d_step { takeOver(w); seal() };
        if
        :: sent[w].isSnapshot = false
        :: known[w].version + 1 < VERSIONS -> sent[w].isSnapshot = true
        fi
      }
    :: atomic { seals > 0 -> giveUp(); goto next }
    fi;
#ifdef DELETED_BEFORE
    if
    :: atomic { sent[w].isSnapshot -> deleteOthers(sent[w].version + 1) }
    :: else
    fi;
#endif
send:
    if
    :: atomic { connection[w] == HELD -> connection[w] = SENT; when(!isUncertain, sentOn = known[w].timeline) }
#ifdef RECONNECTED
    :: connection[w] == BROKEN -> connection[w] = SENT
#else
    :: atomic {
        connection[w] == BROKEN -> connection[w] = IDLE;
        if
        :: isUncertain -> goto settle
        :: !isUncertain -> goto begin                                   /* it has noticed, and sent nothing */
        :: !isUncertain -> sentOn = known[w].timeline; isUncertain = true; goto settle
        fi
      }
#endif
    fi;
    if
    :: atomic {
        connection[w] == COMMITTED ->
        connection[w] = IDLE; acknowledge(); takeOverOwn(w)
#ifndef DELETED_AFTER
        ; goto next
#endif
      }
#ifdef DELETED_AFTER
      if
      :: atomic { sent[w].isSnapshot -> deleteOthers(sent[w].version + 1); goto next }
      :: else -> goto next
      fi
#endif
    :: atomic { connection[w] == REFUSED -> connection[w] = IDLE; giveUp(); goto next }
    :: atomic { connection[w] == BROKEN -> connection[w] = IDLE; isUncertain = true }
    fi;
settle:
#ifdef CALLED_FAILED
    atomic { fail(); goto next };
#endif
#ifdef BLIND
    atomic { isUncertain = false; goto begin };
#endif
#ifdef REPLACED
    if
    :: atomic {
        mayLock && seals < TRIES ->
        lock(w); connection[w] = HELD;
        sent[w].id = newId(w); sent[w].isSnapshot = true; seals++;
        goto send
      }
    :: goto next
    fi;
#endif
    if
    :: atomic {
        mayLock && looks < TRIES -> looks++;
        d_step {
          isFound = (sent[w].isSnapshot -> isOwnSnapshot : isOwnEntry);
          isSame = !isFound && isUnchanged;
          isTaken = !isFound && isPlaceKnown && isWhereSent;
          takeOver(w)
        };
        if
        :: isFound -> isFound = false; acknowledge(); goto next
        :: isSame -> isSame = false; isUncertain = !isWhereSent; lock(w); connection[w] = HELD; goto send
        :: isTaken -> isTaken = false; isUncertain = false; goto begin
        :: else -> goto next
        fi
      }
    :: atomic { giveUp(); goto next }
    fi;
next:
    atomic {
      forget(sent[w]); write++; seals = 0; looks = 0; isUncertain = false; sentOn = 0;
      when(write == WRITES, close(w))
    }
  od
  } unless {
    atomic {
      isDead[w] ->
      forget(sent[w]); close(w); write = 0; seals = 0; looks = 0; isUncertain = false; sentOn = 0;
      isFound = false; isSame = false; isTaken = false
    }
  }
}

/* MARK: A reader */

proctype Reader() {
  byte reads, i;
#ifdef TWO_STATEMENTS
  byte version, length;
#endif
  do
  :: reads == READS -> break
  :: else ->
#ifdef TWO_STATEMENTS
    atomic { version = rows.version; length = rows.length };
    atomic { each(length, never(pieceMissing, rows.at(version, i) == 0)); version = 0; length = 0 };
#endif
    atomic { takeOver(N); reads++ }
  od;
  atomic { close(N); reads = 0 }
}

init {
  byte i;
  atomic {
    rows.length = 1; rows.tail = FIRST; rows.at(0, 0) = FIRST;
#if FAILOVERS > 0
    copy(rows, replica);
#endif
    each(N + 1, known[i].length = 1; known[i].piece[0] = FIRST);
    run Server();
    run Reader();
    each(N, run Session(i); run Writer(i))
  }
}
