/*
 * The lease of RefreshingToken: N processes share one record, whose refresh token a server accepts once.
 *
 * Scripts/model checks two properties with spin, in every order of the steps below:
 *
 *   1. No process sends the refresh token while another's request is under way within its lease.
 *   2. A refresh token that the server has issued is stored, or in the memory of a process that will store it, unless
 *      that process or the network has lost it.
 *
 * A step that is a line of the code says so, as "model: NAME | function | the line". Scripts/model compares these with
 * the comments "// model: NAME" in Sources/Secrets/Tokens and the lines that follow them.
 *
 * Between any two steps any time may pass: the wait for the vault's lock, a slow disk, a process that is not scheduled.
 * `time` is the clock that cannot be set, which runs equally fast everywhere. Wall clocks differ by `skew`; only the
 * old protocol reads them. Compare-and-set compares all that changes: leases have ids of their own, and tokens a number.
 *
 * Options: N processes; CRASH, how many of them may end, at any step; LOSS, requests and answers may be lost; SIGNIN, the
 * user signs in at some moment; FULL, a write may fail. Mistakes, each of which must be found: OLD_COUNT counts the time
 * of a request from after the write of the lease; OLD_CLOCK counts a lease by wall clocks; NO_RENEWAL sends although
 * little of the lease is left; DROP_LEASE removes another process's lease together with the tokens that it replaces;
 * JUDGE_FIRST judges the access token before it stores the refresh token.
 */

#ifndef N
#define N 2
#endif
#ifndef CRASH
#define CRASH 0
#endif
#ifndef END
#define END 8       /* the last moment */
#endif
#ifndef CALLS
#define CALLS 2     /* of each process */
#endif
#ifndef LEASE
#define LEASE 4     /* options.lease */
#define NEEDED 3    /* what must be left of it at first, and */
#define HALF 2      /* at the end */
#define SERVER 2    /* an answer arrives before this time */
#else
#define NEEDED LEASE
#define HALF LEASE
#define SERVER LEASE
#endif
#define LAST 2      /* the number of the last tokens: they do not expire */
#define SIGNED_IN 9
#define REFUSED 8

byte time, crashes, ids;
bool lost, hasSignedIn;

/* The record: the number of the tokens, and the mark: the id of a lease, and whether it is that of its failure. */
byte tokens, mark;
bool isFailure;
#ifdef OLD_CLOCK
byte since;
byte skew[N];
#endif

/* The server: the number of the refresh token that it accepts, and for each process its request and the answer. */
byte accepted;
bool isPending[N], hasArrived[N];
byte request[N], sent[N], answer[N];

/* Until when a process may have a request under way; 0 if it has none. */
byte until[N];
/* New tokens in the memory of a process: unfinished.unsaved. */
byte unsaved[N];
bool isDead[N];

#if N > 2
#define ANY(x) (x(0) || x(1) || x(2))
#define ALL(x) (x(0) && x(1) && x(2))
#else
#define ANY(x) (x(0) || x(1))
#define ALL(x) (x(0) && x(1))
#endif
#define isAlone(q) (q == p || time >= until[q])

#ifdef NO_RENEWAL
#define mayStart (time < end)
#else
#define mayStart (time + HALF <= end)
#endif

proctype Process(byte p) {
  byte calls, old, seen, seenEnd, awaited, taken, lease, end, needed, spent, new;
  byte t, m;
  bool f;
  {
  do
  :: calls == CALLS || tokens >= LAST -> break
  :: atomic { calls < CALLS && tokens < LAST -> calls++; old = tokens; awaited = 0; taken = 0; needed = NEEDED; new = unsaved[p] };
    if
    :: new > 0 -> goto save
    :: else
    fi;
renew:
    /* model: read | renew | let record = try await load() */
    atomic { t = tokens; m = mark; f = isFailure };
    if
    :: t != old -> goto done
    :: t == old && m != 0 && f && m == awaited -> goto done        /* throws the failure that it has waited for */
    :: t == old && m != 0 && f && m != awaited ->                  /* in the pause, or after it */
      if
      :: goto done
      :: skip
      fi
    :: t == old && m != 0 && !f && m != taken ->
      atomic {
        awaited = m;
        if
        :: seen != m ->
          seen = m;
#ifdef OLD_CLOCK
          /* As far as its own clock says, limited to the length. */
          if
          :: since + LEASE <= time + skew[p] -> seenEnd = time
          :: since + LEASE > time + skew[p] && since > time + skew[p] -> seenEnd = time + LEASE
          :: else -> seenEnd = time + (since + LEASE - time - skew[p])
          fi
#else
          /* model: first-sight | end | let end = now + max(.zero, lease.length) */
          seenEnd = time + LEASE
#endif
        :: else
        fi;
        /* model: wait | renew | let end = leases.end(of: mark) */
        if
        :: time < seenEnd -> goto renew
        :: time < seenEnd -> goto done                             /* it has waited for two leases */
        :: time >= seenEnd
        fi
      }
    :: else
    fi;
    /* model: lease-count | renew | let end = leases.end(of: lease) */
    end = time + LEASE;
#ifdef OLD_CLOCK
    new = time + skew[p];
#endif
    /* model: lease-write | renew | guard try await records.write(lease, to: record) else { continue } */
    atomic {
      if
      :: tokens == t && mark == m && isFailure == f ->
        ids++; lease = ids; mark = lease; isFailure = false; seen = lease; seenEnd = end;
#ifdef OLD_CLOCK
        since = new; new = 0
#endif
      :: else -> new = 0; goto renew
#ifdef FULL
      :: new = 0; goto done
#endif
      fi
    };
#ifdef OLD_COUNT
    end = time + LEASE;
#endif
    /* model: lease-left | renew | if end - leases.elapsed() >= needed { return try await spend(refreshToken, of: record.tokens, lease, until: end) } */
    if
    :: time + needed <= end
#ifdef NO_RENEWAL
    :: time + needed > end
#else
    :: time + needed > end ->
      atomic {
        taken = lease;
        if
        :: needed > HALF -> needed--
        :: else
        fi
      };
      if
      :: goto renew
      :: goto done                                                 /* two leases are over */
      fi
#endif
    fi;
    spent = t;
    /* model: send | spend | guard end - leases.elapsed() >= options.lease / 2 else { throw RefreshFailure(.timedOut) } */
    if
    :: atomic {
        mayStart ->
        assert(ALL(isAlone));
        until[p] = end; isPending[p] = true; request[p] = spent; sent[p] = time
      }
    :: !mayStart -> goto fail
    fi;
end_request:
    if
    /* model: receive | spend | return try await save(NewTokens(tokens, at: now, for: refreshToken, of: spent, lease)) */
    :: atomic {
        hasArrived[p] && answer[p] != REFUSED ->
        new = answer[p]; answer[p] = 0; hasArrived[p] = false; until[p] = 0;
        /* model: keep | save | unfinished.withLock { $0.unsaved = new } */
        unsaved[p] = new
      }
#ifdef JUDGE_FIRST
      if
      :: atomic { unsaved[p] = 0; goto fail }
      :: skip
      fi
#endif
    :: atomic { hasArrived[p] && answer[p] == REFUSED -> answer[p] = 0; hasArrived[p] = false; until[p] = 0 }; goto fail
    /* model: cancel | spend | task.cancel() */
    :: atomic {
        time >= end && !hasArrived[p] ->
        until[p] = 0; isPending[p] = false; request[p] = 0; sent[p] = 0; answer[p] = 0
      };
      goto fail
    fi;
save:
    atomic { t = tokens; m = mark; f = isFailure };
    if
    /* model: outdated | save | drop(new) */
    :: t == SIGNED_IN || t >= new -> unsaved[p] = 0
    /* model: store | save | guard try await records.store(text, mark, over: record.version) else { continue } */
    :: t != SIGNED_IN && t < new ->
      if
      :: atomic {
          tokens == t && mark == m && isFailure == f ->
          assert(t + 1 == new);
          tokens = new; isFailure = false; unsaved[p] = 0;
#ifdef DROP_LEASE
          mark = 0
#else
          /* The lease of another process stays: its request may be under way. */
          mark = (m != lease && !f -> m : 0)
#endif
        }
      :: !(tokens == t && mark == m && isFailure == f) -> goto save
#ifdef FULL
      :: skip
#endif
      fi
    fi;
    goto done;
fail:
    atomic { t = tokens; m = mark; f = isFailure };
    if
    :: m != lease || t != spent -> goto renew
    :: else
    fi;
    /* model: fail | fail | if try await records.write(lease.failed(failure.code, pause: pause, at: now), to: record) { throw failure } */
    atomic {
      if
      :: tokens == t && mark == m && isFailure == f -> isFailure = true
      :: else -> goto fail
#ifdef FULL
      :: skip
#endif
      fi
    };
done:
    atomic { t = 0; m = 0; f = false; old = 0; awaited = 0; taken = 0; needed = 0; end = 0; spent = 0; new = 0 }
  od
  } unless {
    /* Its memory and the answer to its request are gone, but the server may receive the request yet. */
    atomic { isDead[p] -> lost = (lost || unsaved[p] != 0 || answer[p] != 0); unsaved[p] = 0; answer[p] = 0; hasArrived[p] = false }
  }
}

/* The server receives a request, and the answer arrives, or the network loses one of them. */
#ifdef LOSS
#define LOSES true
#else
#define LOSES false
#endif
#define receive(q) atomic { \
      isPending[q] -> \
      isPending[q] = false; \
      if \
      :: request[q] == accepted -> accepted++; answer[q] = accepted \
      :: else -> answer[q] = REFUSED \
      fi; \
      request[q] = 0; \
      if \
      :: isDead[q] -> lost = (lost || answer[q] == accepted); answer[q] = 0; sent[q] = 0 \
      :: else \
      fi \
    }
#define deliver(q) atomic { answer[q] != 0 && !hasArrived[q] -> hasArrived[q] = true; sent[q] = 0 }
#define lose(q) atomic { \
      LOSES && (isPending[q] || (answer[q] != 0 && !hasArrived[q])) -> \
      lost = (lost || answer[q] == accepted); \
      isPending[q] = false; request[q] = 0; answer[q] = 0; sent[q] = 0 \
    }
#define serve(q) receive(q) :: deliver(q) :: lose(q)

active proctype Server() {
end_server:
  do
  :: serve(0)
  :: serve(1)
#if N > 2
  :: serve(2)
#endif
  od
}

#define isInTime(q) (isDead[q] || !(isPending[q] || (answer[q] != 0 && !hasArrived[q])) || time + 1 < sent[q] + SERVER)

active proctype Clock() {
end_clock:
  do
  :: atomic { time < END && ALL(isInTime) -> time++ }
  od
}

#if CRASH > 0
active proctype Crash() {
end_crash:
  do
  :: atomic { crashes < CRASH && !isDead[0] -> isDead[0] = true; crashes++ }
  :: atomic { crashes < CRASH && !isDead[1] -> isDead[1] = true; crashes++ }
#if N > 2
  :: atomic { crashes < CRASH && !isDead[2] -> isDead[2] = true; crashes++ }
#endif
  od
}
#endif

#ifdef SIGNIN
active proctype SignIn() {
  atomic { tokens = SIGNED_IN; mark = 0; isFailure = false; hasSignedIn = true }
}
#endif

#define isSomewhere(q) (answer[q] == accepted || unsaved[q] == accepted)

/* The second property, and that a sign-in is never overwritten. */
active proctype Monitor() {
end_monitor:
  atomic {
    ((accepted > 0 && tokens != accepted && !hasSignedIn && !lost && !ANY(isSomewhere))
      || (hasSignedIn && tokens != SIGNED_IN)) -> assert(false)
  }
}

init {
  atomic {
#ifdef OLD_CLOCK
    if
    :: skew[0] = 0
    :: skew[0] = LEASE
    fi;
#endif
    run Process(0);
    run Process(1)
#if N > 2
    ;
    run Process(2)
#endif
  }
}
