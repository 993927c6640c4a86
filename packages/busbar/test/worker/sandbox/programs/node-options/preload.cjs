globalThis.required = require.main === module ? 'as main' : 'yes'
