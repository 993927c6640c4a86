exports.app = require('../export-nest/index.js')
