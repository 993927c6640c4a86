// Fails when everything else has started.
await new Promise((resolve) => setTimeout(resolve, 1000))
throw new Error('on purpose')
