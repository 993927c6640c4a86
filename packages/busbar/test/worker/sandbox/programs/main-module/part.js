exports.main = require.main
exports.id = module.id
exports.parent = module.parent
