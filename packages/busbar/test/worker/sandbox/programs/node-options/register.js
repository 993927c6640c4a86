globalThis.imported = process.env.FROM_FILE
