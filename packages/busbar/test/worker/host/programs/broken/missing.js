import 'no-such-package'
