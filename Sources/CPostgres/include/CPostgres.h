#pragma once
// libpq, which is loaded when a program first opens a vault in a database. Its libraries for TLS, Kerberos and LDAP
// take milliseconds to load, which programs that do not need them would otherwise spend at each start.

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#elif __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#error "the trait PostgreSQL needs the headers of libpq: install libpq-dev"
#endif

/// Loads libpq. Must be called by one thread, before the functions below.
///
/// Returns zero if it is missing, or is older than PostgreSQL 14.
int lazyPQload(void);

// F(RESULT, NAME, PARAMETERS, ARGUMENTS) for each function of libpq that is used.
#define SECRETPREFS_LIBPQ(F)                                                                                           \
  F(int, PQbackendPID, (const PGconn *c), (c))                                                                         \
  F(void, PQclear, (PGresult * r), (r))                                                                                \
  F(char *, PQcmdTuples, (PGresult * r), (r))                                                                          \
  F(PGconn *, PQconnectdbParams, (const char *const *k, const char *const *v, int e), (k, v, e))                       \
  F(void, PQconninfoFree, (PQconninfoOption * o), (o))                                                                 \
  F(PQconninfoOption *, PQconninfoParse, (const char *t, char **e), (t, e))                                            \
  F(int, PQconsumeInput, (PGconn * c), (c))                                                                            \
  F(int, PQenterPipelineMode, (PGconn * c), (c))                                                                       \
  F(char *, PQerrorMessage, (const PGconn *c), (c))                                                                    \
  F(PGresult *, PQexec, (PGconn * c, const char *q), (c, q))                                                           \
  F(void, PQfinish, (PGconn * c), (c))                                                                                 \
  F(int, PQflush, (PGconn * c), (c))                                                                                   \
  F(void, PQfreemem, (void *p), (p))                                                                                   \
  F(PGresult *, PQgetResult, (PGconn * c), (c))                                                                        \
  F(int, PQgetisnull, (const PGresult *r, int t, int f), (r, t, f))                                                    \
  F(int, PQgetlength, (const PGresult *r, int t, int f), (r, t, f))                                                    \
  F(char *, PQgetvalue, (const PGresult *r, int t, int f), (r, t, f))                                                  \
  F(int, PQisBusy, (PGconn * c), (c))                                                                                  \
  F(int, PQnfields, (const PGresult *r), (r))                                                                          \
  F(PGnotify *, PQnotifies, (PGconn * c), (c))                                                                         \
  F(int, PQntuples, (const PGresult *r), (r))                                                                          \
  F(int, PQpipelineSync, (PGconn * c), (c))                                                                            \
  F(char *, PQresultErrorField, (const PGresult *r, int f), (r, f))                                                    \
  F(char *, PQresultErrorMessage, (const PGresult *r), (r))                                                            \
  F(ExecStatusType, PQresultStatus, (const PGresult *r), (r))                                                          \
  F(int, PQsendPrepare, (PGconn * c, const char *n, const char *q, int k, const Oid *t), (c, n, q, k, t))              \
  F(int, PQsendQueryParams,                                                                                            \
    (PGconn * c, const char *q, int n, const Oid *t, const char *const *v, const int *l, const int *f, int r),         \
    (c, q, n, t, v, l, f, r))                                                                                          \
  F(int, PQsendQueryPrepared,                                                                                          \
    (PGconn * c, const char *n, int k, const char *const *v, const int *l, const int *f, int r),                       \
    (c, n, k, v, l, f, r))                                                                                             \
  F(PQnoticeReceiver, PQsetNoticeReceiver, (PGconn * c, PQnoticeReceiver p, void *a), (c, p, a))                       \
  F(int, PQsetnonblocking, (PGconn * c, int n), (c, n))                                                                \
  F(int, PQsocket, (const PGconn *c), (c))                                                                             \
  F(int, PQsslInUse, (PGconn * c), (c))                                                                                \
  F(ConnStatusType, PQstatus, (const PGconn *c), (c))                                                                  \
  F(PGTransactionStatusType, PQtransactionStatus, (const PGconn *c), (c))

// lazyPQclear and so on, which call the functions of libpq. They have names of their own, because a program may be
// linked with libpq itself.
#define SECRETPREFS_LIBPQ_DECLARE(result, name, parameters, arguments) result lazy##name parameters;
SECRETPREFS_LIBPQ(SECRETPREFS_LIBPQ_DECLARE)
