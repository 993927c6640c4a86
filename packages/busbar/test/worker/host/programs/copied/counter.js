exports.count = 0
