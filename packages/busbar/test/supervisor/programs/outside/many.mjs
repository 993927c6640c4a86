// Calls by name in a row, on connections that it keeps, and says which of the calls failed.
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
