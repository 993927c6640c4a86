export default (request, response) => {
  response.end(JSON.stringify({ hello: 'export-listener' }))
}
