export default {
  async fetch(request: Request, env: Record<string, string>): Promise<Response> {
    const url = new URL(request.url)
    if (url.pathname === '/echo') return new Response(request.body, { headers: { 'x-method': request.method } })
    if (url.pathname === '/cookies') {
      return new Response(null, {
        status: 204,
        headers: [
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ],
      })
    }
    if (url.pathname === '/broken') throw new Error('broken on purpose')
    if (url.pathname === '/env') return new Response(env['GREETING'])
    return Response.json({ hello: 'export-fetch' })
  },
}
