module.exports = [require.main === module, module.id, module.parent]
