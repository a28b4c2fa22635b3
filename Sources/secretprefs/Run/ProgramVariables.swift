/// The variables that programs read as their settings: which files they use, which programs they start, what they
/// connect to and trust, and how they work.
///
/// A name that follows from a key could be any of them, so `run` passes such a variable only if the caller has chosen
/// its key. No such list is complete. This one has the ends of names that settings have, the families of widespread
/// programs, and single names.
enum ProgramVariables {
  static func contains(_ name: String) -> Bool {
    if names.contains(name) { return true }
    if values.contains(name) || valueEnds.contains(where: { name.hasSuffix($0) }) { return false }
    return families.contains { name.hasPrefix($0) } || ends.contains { name.hasSuffix($0) }
  }

  /// The ends of names of secrets, which a family has as well: `CARGO_REGISTRY_TOKEN`.
  private static let valueEnds = [
    "_TOKEN", "_PASSWORD", "_PASSWD", "_PASSPHRASE", "_SECRET", "_KEY", "_KEY_ID", "_CREDENTIAL",
  ]

  /// Names with the form of a setting that belong to a secret.
  private static let values: Set<String> = [
    "AWS_ACCOUNT_ID", "AWS_DEFAULT_REGION", "AWS_REGION", "DOCKER_USER", "DOCKER_USERNAME", "PGDATABASE", "PGHOST",
    "PGPASSWORD", "PGPORT", "PGUSER",
  ]

  /// The ends of names that say what a setting is for, in any program.
  private static let ends = [
    // Options.
    "OPTS", "OPTIONS", "_OPT", "FLAGS", "_ARGS", "_DEFAULTS", "_PARAMS",
    // Programs that are started.
    "PAGER", "EDITOR", "BROWSER", "VIEWER", "SHELL", "ASKPASS", "_WRAPPER", "_LAUNCHER", "_RUNNER", "_COMMAND", "_CMD",
    "_EXEC", "_EXECUTABLE", "_PROGRAM", "_HOOK", "_HOOKS", "_HANDLER", "_RSH", "_SSH", "_LINKER", "_COMPILER",
    "_HELPER", "_TOOL", "_TERMINAL",
    // Code that is loaded.
    "_PRELOAD", "_PLUGIN", "_PLUGINS", "_MODULE", "_MODULES", "_STARTUP", "_INIT", "_LOADER",
    // Files and directories.
    "RC", "CONFIG", "_CONF", "_CFG", "_SETTINGS", "_FILE", "_FILES", "PATH", "PATHS", "_DIR", "_DIRS", "HOME", "_ROOT",
    "_SOCK", "_SOCKET", "_LOG", "_HISTORY", "HISTFILE", "_CACHE", "_CACHE_DIR",
    // Connections, and what makes them trusted.
    "_PROXY", "_CAFILE", "_CACERT", "_CAPATH", "_CA_BUNDLE", "_CA_CERTS", "_CIPHERS", "_INSECURE", "_VERIFY",
    "_SSLVERIFY", "_REJECT_UNAUTHORIZED", "_INDEX_URL", "_MIRROR", "_ENDPOINT_URL",
    // What is written besides the output.
    "_DEBUG", "_TRACE", "_VERBOSE", "_KEYLOG", "_BACKTRACE",
  ]

  /// The beginnings of the names of one program's settings.
  private static let families = [
    // Loaders, C libraries, shells, terminals, languages, help.
    "LD_", "DYLD_", "GLIBC_", "GCONV_", "MALLOC_", "LC_", "BASH_", "ZSH", "FISH_", "KSH", "XDG_", "DBUS_", "SYSTEMD_",
    "TERM_", "TERMINFO", "NCURSES_", "LESS", "GROFF_", "TEXINPUTS", "TEXMF", "TMUX", "RES_OPTIONS", "FC_",
    // Version control, remote shells, encryption.
    "GIT_", "HG", "SVN_", "CVS", "BZR", "FOSSIL_", "JJ_", "DELTA_", "GH_", "GLAB_", "SSH_", "GPG_", "GNUPG",
    "OPENSSL_", "SSL_", "SSLKEYLOG", "KRB5", "SUDO_", "RSYNC_",
    // Files and texts.
    "TAR_", "GZIP", "BZIP", "XZ_", "ZSTD_", "LZ4_", "UNZIP", "ZIPINFO", "GREP_", "LS_", "DU_BLOCK", "DF_BLOCK",
    "RIPGREP_", "FZF_", "BAT_", "JQ_", "AWKPATH", "AWKLIBPATH", "GAWK_", "POSIX", "SIMPLE_BACKUP_", "PARALLEL_",
    "ENSCRIPT", "NVIM_", "EMACS",
    // Network clients and databases.
    "CURL_", "WGET", "LYNX", "HTTPIE_", "LDAPTLS_", "PG", "PSQL", "LIBMYSQL", "LIBPQ_", "SQLITE_", "REDISCLI_",
    "MONGOSH_", "ODBC", "TNS_",
    // Compilers and builds.
    "GCC_", "GCOV_", "COMPILER_PATH", "LIBRARY_PATH", "C_INCLUDE_", "CPLUS_INCLUDE_", "OBJC_INCLUDE_", "CCACHE_",
    "SCCACHE_", "DISTCC_", "ICECC_", "CMAKE_", "CTEST_", "MAKE", "GNUMAKE", "NINJA_", "MESON_", "BAZEL", "PKG_CONFIG",
    "AUTOCONF", "AUTOMAKE", "ACLOCAL", "LIBTOOL", "AUTOM4TE", "SWIFT_", "CLANG_", "LLVM_", "ASAN_", "UBSAN_", "TSAN_",
    "LSAN_", "MSAN_", "GDB", "LLDB_", "VALGRIND_", "DEB_", "DEBUILD_", "DEBSIGN_", "DPKG_", "APT_", "RPM_", "NIX_",
    // Languages and their package managers.
    "PYTHON", "PIP_", "PIPX_", "PIPENV_", "PDM_", "UV_", "POETRY_", "VIRTUALENV", "VIRTUAL_ENV", "CONDA_", "MAMBA_",
    "PYENV_", "PYTEST_", "TOX_", "TWINE_", "MYPY", "DJANGO_SETTINGS", "FLASK_", "UVICORN_", "GUNICORN_", "JUPYTER_",
    "IPYTHON", "PERL", "RUBY", "GEM_", "BUNDLE_", "RBENV_", "RAKE", "RAILS_", "IRB", "JAVA_", "_JAVA_", "JDK_", "JRE_",
    "MAVEN_", "MVN", "M2_", "GRADLE_", "ANT_", "SBT_", "SCALA", "KOTLIN_", "CATALINA_", "SPRING_CONFIG",
    "SPRING_PROFILES", "SPRING_APPLICATION", "SPRING_MAIN", "SPRING_DEVTOOLS", "LEIN_", "CLASSPATH", "NODE_", "NODENV_",
    "NPM_", "YARN_", "PNPM_", "BUN_", "DENO_", "NVM_", "COREPACK_", "ELECTRON_", "TS_NODE_", "PUPPETEER_",
    "PLAYWRIGHT_", "CARGO_", "RUST", "DOTNET_", "NUGET_", "CORECLR_", "COMPLUS_", "COR_", "MSBUILD", "PHP", "COMPOSER",
    "LUA_", "LUAROCKS_", "TCL", "ERL_", "ELIXIR_", "MIX_", "HEX_", "REBAR", "GHC", "CABAL_", "OCAML", "OPAM", "JULIA_",
    "R_", "GO_", "CGO_", "GUILE_", "ZIG_",
    // Machines, containers and clouds.
    "DOCKER_", "BUILDKIT_", "BUILDX_", "COMPOSE_", "PODMAN_", "CONTAINERS_", "CONTAINERD_", "KUBE", "HELM_", "K9S_",
    "KREW_", "SKAFFOLD_", "MINIKUBE_", "TF_CLI_", "TF_LOG", "TF_DATA_", "TF_PLUGIN_", "TF_REATTACH_", "TERRAGRUNT_",
    "PACKER_", "VAGRANT_", "ANSIBLE_", "PULUMI_", "VAULT_", "CONSUL_", "NOMAD_", "AWS_", "SAM_CLI_", "CLOUDSDK_",
    "GOOGLE_APPLICATION_", "BOTO", "AZURE_CORE_", "AZURE_CLI_", "AZURE_DEFAULTS_", "AZURE_EXTENSION_",
    "AZURE_LOGGING_", "RCLONE_", "RESTIC_", "BORG_", "SOPS_", "PASSWORD_STORE_", "WSL",
    // Desktops and graphics.
    "GTK", "GDK_", "GIO_", "GST_", "GSETTINGS_", "GVFS_", "QT_", "QML", "KDE", "WAYLAND_", "LIBGL_", "MESA_", "VK_",
    "EGL_", "SDL_", "ALSA_", "PULSE_", "PIPEWIRE_",
  ]

  /// Single names.
  private static let names: Set<String> = [
    // The user, the terminal and the shell.
    "USER", "LOGNAME", "HOSTNAME", "PWD", "OLDPWD", "HOSTFILE", "MAIL", "MAILCHECK", "SHLVL", "UID", "EUID", "PPID",
    "TMOUT",
    "COLUMNS", "LINES", "TERM", "TERMCAP", "TZ", "LANG", "LANGUAGE", "TMP", "TEMP", "TEMPDIR", "COLORTERM", "NO_COLOR",
    "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LSCOLORS", "TREE_COLORS", "DISPLAY", "XAUTHORITY", "STY", "SCREENDIR",
    "BASH", "BASHOPTS", "HISTCONTROL", "HISTIGNORE", "HISTSIZE", "HISTFILESIZE", "HISTTIMEFORMAT", "HISTCHARS",
    "EXECIGNORE", "FIGNORE", "GLOBIGNORE", "IGNOREEOF", "OPTIND", "OPTARG", "OPTERR", "REPLY", "TIMEFORMAT", "FCEDIT",
    "EXINIT", "PROMPT", "PROMPT2", "PROMPT3", "PROMPT4", "RPROMPT", "RPS1", "PS3", "NULLCMD", "READNULLCMD",
    "COMP_WORDBREAKS", "DEBUG", "TRACE", "VERBOSE", "ARGP_HELP_FMT", "CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET",
    "LISTEN_FDS", "LISTEN_PID", "JOURNAL_STREAM",
    // What bash sets itself, and what it was is lost.
    "BASHPID", "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "FUNCNAME", "GROUPS", "HISTCMD", "LINENO", "RANDOM",
    "SECONDS", "SRANDOM",
    // Programs for files, texts and mail.
    "MORE", "MANOPT", "MANSECT", "MANWIDTH", "MANROFFOPT", "MANROFFSEQ", "MANLESS", "MAN_KEEP_FORMATTING",
    "MAN_DISABLE_SECCOMP", "NROFF", "NETRC", "MAGIC", "TAPE", "ZIP", "ZIPOPT", "RAR", "BLOCK_SIZE", "BLOCKSIZE",
    "QUOTING_STYLE", "VERSION_CONTROL", "VIM", "VIMINIT", "VIMRUNTIME", "GVIMINIT", "TIME_STYLE", "TABSIZE",
    "HOSTALIASES", "LOCALDOMAIN", "RESOLV_HOST_CONF", "FTPMODE", "LDAPCONF", "LDAPNOINIT", "LDAPBASE", "LDAPURI",
    "TDSDUMP", "TDSVER", "DEBEMAIL", "DEBFULLNAME", "DEBUGINFOD_URLS",
    // MySQL. Servers have other settings with this beginning.
    "MYSQL_HOST", "MYSQL_TCP_PORT", "MYSQL_UNIX_PORT", "MYSQL_PS1", "MYSQL_HISTIGNORE", "MYSQL_GROUP_SUFFIX",
    // The programs of builds, and programs by their names.
    "AR", "ARCH", "AS", "AWK", "CC", "CPP", "CROSS_COMPILE", "CXX", "CXXCPP", "DESTDIR", "EGREP", "F77", "FC", "FGREP",
    "GREP", "HOSTCC", "INSTALL", "LD", "LDSHARED", "LEX", "LIBS", "NM", "OBJC", "OBJCOPY", "OBJDUMP", "PREFIX",
    "RANLIB",
    "READELF", "SED", "STRIP", "YACC", "SDKROOT", "TOOLCHAINS", "SOURCE_DATE_EPOCH", "DEPENDENCIES_OUTPUT",
    "SUNPRO_DEPENDENCIES", "MFLAGS", "NODE", "JAVA", "SH",
    // Go, whose names have no beginning of their own.
    "GCCGO", "GO111MODULE", "GO386", "GOAMD64", "GOARCH", "GOARM", "GOARM64", "GOAUTH", "GOBIN", "GOCACHE",
    "GOCACHEPROG",
    "GOCOVERDIR", "GODEBUG", "GOENV", "GOEXE", "GOEXPERIMENT", "GOFIPS140", "GOGC", "GOHOSTARCH", "GOHOSTOS",
    "GOINSECURE", "GOMAXPROCS", "GOMEMLIMIT", "GOMIPS", "GOMIPS64", "GOMOD", "GOMODCACHE", "GONOPROXY", "GONOSUMDB",
    "GOOS", "GOPACKAGESDRIVER", "GOPPC64", "GOPRIVATE", "GOPROXY", "GORACE", "GORISCV64", "GOROOT", "GOSUMDB",
    "GOTELEMETRY", "GOTELEMETRYDIR", "GOTMPDIR", "GOTOOLCHAIN", "GOTOOLDIR", "GOTRACEBACK", "GOVCS", "GOVERSION",
    "GOWASM", "GOWORK",
  ]
}
