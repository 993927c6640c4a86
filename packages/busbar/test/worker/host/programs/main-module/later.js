exports.main = require.main
