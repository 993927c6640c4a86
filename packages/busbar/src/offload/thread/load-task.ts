import { BusbarError } from '../../contract/errors.ts'
import type { TaskContext } from './running-task.ts'

export type Task = (input: unknown, context: TaskContext) => unknown

/** By URL. A promise until the module is loaded. */
const tasks = new Map<string, Task | Promise<Task>>()

/** The default export of a module, which is loaded once per thread. */
export function loadTask(module: string): Task | Promise<Task> {
  const known = tasks.get(module)
  if (known !== undefined) return known
  const loading = load(module)
  tasks.set(module, loading)
  loading.then(
    (task) => tasks.set(module, task),
    // A missing dependency may exist the next time.
    () => tasks.delete(module),
  )
  return loading
}

async function load(module: string): Promise<Task> {
  const { default: task } = (await import(module)) as { default?: unknown }
  if (typeof task === 'function') return task as Task
  const found = task === undefined ? 'no default export' : `a default export that is ${typeof task}`
  throw new BusbarError('TASK_INVALID', {
    message: `${module} has ${found}`,
    hint: 'Write export default (input, { signal }) => result.',
  })
}
