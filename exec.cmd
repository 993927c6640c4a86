@rem The scripts of package.json begin with "exec", so that on Unix no shell stands between npm and the app, which would
@rem swallow the signals that npm passes on. Windows has no such word: this is it.
@%*
