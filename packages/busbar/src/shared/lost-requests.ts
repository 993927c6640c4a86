/** Connections whose request an instance has had, which was lost before it answered. */
const connections = new WeakSet<object>()

/** Sent directly by the native entrance, and then given to a worker, which decides what follows. */
export function markLost(connection: object): void {
  connections.add(connection)
}

/** True once for each request. */
export function takeLost(connection: object): boolean {
  return connections.delete(connection)
}
