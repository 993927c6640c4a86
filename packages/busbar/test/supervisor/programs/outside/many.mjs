// Makes successive calls by name over keep-alive connections, and reports the failures.
const failed = []
for (let call = 0; call < 600; call++) {
  try {
    const response = await fetch('http://catalog.internal/', { method: 'POST', body: 'x' })
    await response.text()
    if (response.status !== 200) failed.push(response.status)
  } catch (error) {
    failed.push((error.cause ?? error).message)
  }
  await new Promise((resolve) => setTimeout(resolve, 3))
}
console.log(JSON.stringify({ failed }))
