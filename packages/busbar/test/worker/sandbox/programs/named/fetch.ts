export async function fetch(request: Request): Promise<Response> {
  return Response.json({ hello: 'fetch', method: request.method })
}
