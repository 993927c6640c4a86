setTimeout(() => {
  throw new Error('late')
}, 5)
