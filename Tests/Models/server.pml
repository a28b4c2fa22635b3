/* The server of storage.pml: what it has committed, and the sessions of its clients. */

inline checkPieces() {
  each(rows.length, never(pieceMissing, rows.at(rows.version, i) == 0));
  never(pieceMissing, rows.at(rows.version, rows.length - 1) != rows.tail)
}

inline deleteOthers(kept) {
  each(VERSIONS * LENGTH, when(i / LENGTH != (kept), rows.piece[i] = 0))
}

#ifdef GUARDED
#define isExpected(s) (rows.version == s.version && rows.length == s.start && rows.tail == s.tail)
#else
#define isExpected(s) true
#endif
#define place(s) at(s.version + s.isSnapshot, (s.isSnapshot -> 0 : s.start))

/* The transaction of 3, or nothing of it: the key of a piece may exist. */
inline commit(s) {
  d_step {
    hasCommitted = false;
    if
    :: isExpected(s) && rows.place(s) == 0 ->
      hasCommitted = true;
      rows.place(s) = s.id;
      rows.tail = s.id;
#ifndef REPLACED
      never(writtenTwice, (rows.content & s.change) != 0);
#endif
      if
      :: s.isSnapshot ->
        rows.version = s.version + 1;
        rows.length = 1;
#if !defined(DELETED_BEFORE) && !defined(DELETED_AFTER)
        deleteOthers(rows.version);
#endif
        never(lostWrite, (rows.content & ~s.content) != 0)
      :: else ->
        rows.length = s.start + 1;
        checkPieces();
        never(refusedByReaders, s.content != (rows.content | s.change))
      fi;
      rows.content = s.content;
      ever = ever | s.change;
      never(changedThoughFailed, (failed & ever) != 0)
    :: else
    fi
  }
}

inline forget(s) {
  s.isSnapshot = false; s.version = 0; s.start = 0; s.tail = 0; s.id = 0; s.change = 0; s.content = 0
}

/* The client has lost its session, and the server has not noticed. */
inline abandon(w) {
  when(holder == SESSION(w), holder = ABANDONED(w));
  if
  :: connection[w] == SENT ->
    late[w].isSnapshot = sent[w].isSnapshot; late[w].version = sent[w].version; late[w].start = sent[w].start;
    late[w].tail = sent[w].tail; late[w].id = sent[w].id;
    late[w].change = sent[w].change; late[w].content = sent[w].content
  :: else
  fi
}

#define mayFail (faults < FAULTS)
#define isOpen(w) (connection[w] >= HELD && connection[w] <= REFUSED)
#define isAbandoned(w) (late[w].id != 0 || holder == ABANDONED(w))
#define mayUpdate(session) (holder == 0 || holder == session)     /* an update waits for the lock, too */

proctype Session(byte w) {
  byte i;
  bool hasCommitted;
end:
  do
  :: atomic {
      connection[w] == SENT && mayUpdate(SESSION(w)) ->
      commit(sent[w]);
      connection[w] = (hasCommitted -> COMMITTED : REFUSED);
      hasCommitted = false; holder = 0
    }
  :: d_step { /* a statement fails */
      connection[w] == SENT && mayFail ->
      faults++; connection[w] = REFUSED;
      when(holder == SESSION(w), holder = 0)
    }
  :: atomic { /* what an abandoned session has received is carried out, */
      late[w].id != 0 && mayUpdate(ABANDONED(w)) ->
      commit(late[w]);
      hasCommitted = false; holder = 0;
      d_step { forget(late[w]) }
    }
#ifndef LOCK_KEPT
  :: d_step { /* or the server notices first that its client is gone */
      isAbandoned(w) ->
      forget(late[w]);
      when(holder == ABANDONED(w), holder = 0)
    }
#endif
  :: d_step { /* the server ends the session of a stopped process */
      connection[w] == HELD && mayFail ->
      faults++; connection[w] = BROKEN;
      when(holder == SESSION(w), holder = 0)
    }
  :: d_step { /* the connection is cut */
      isOpen(w) && !isAbandoned(w) && mayFail ->
      faults++; abandon(w); connection[w] = BROKEN
    }
  :: d_step { /* the process ends */
      begun > w && !isDead[w] && !isAbandoned(w) && mayFail ->
      faults++; abandon(w); connection[w] = IDLE; isDead[w] = true
    }
  od
}

inline endSessions() {
  each(N, when(isOpen(i), connection[i] = BROKEN); forget(late[i]));
  holder = 0
}

inline copy(from, to) {
  to.version = from.version; to.length = from.length; to.tail = from.tail; to.content = from.content;
  each(VERSIONS * LENGTH, to.piece[i] = from.piece[i])
}

#if N > 2
#define isBusy (holder != 0 || isOpen(0) || isOpen(1) || isOpen(2))
#else
#define isBusy (holder != 0 || isOpen(0) || isOpen(1))
#endif

proctype Server() {
  byte i;
end:
  do
  :: d_step { isBusy && mayFail -> faults++; endSessions() }       /* it is killed, and starts again */
#if FAILOVERS > 0
  :: d_step { timeline < FAILOVERS && replica.tail != rows.tail -> copy(rows, replica) }
  :: d_step { timeline < FAILOVERS -> timeline++; endSessions(); copy(replica, rows) }
#endif
  od
}
