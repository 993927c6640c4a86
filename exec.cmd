@rem The scripts of package.json begin with "exec": on Unix a shell between npm and the app would not pass signals on.
@rem Windows has no such command, so this file replaces it.
@%*
