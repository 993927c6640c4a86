exports.count = 0
exports.main = require.main
