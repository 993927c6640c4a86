Promise.reject()
setTimeout(() => {}, 1e6)
