import type { Runtime } from 'node:inspector'
import { Session } from 'node:inspector/promises'
import { inspect } from 'node:util'
import type { EvaluationResult, WorkerTask } from '../../shared/worker-tasks.ts'
import type { HostedService } from '../hosted-service.ts'

type EvaluateTask = Extract<WorkerTask, { kind: 'evaluate' }>

/** Characters of a result. */
const mostText = 1024 ** 2

/**
 * Runs code in the global scope of the thread. `process`, `fetch` and others are those of the
 * service. `replMode` allows `await`, and a `const` to be declared again.
 */
export async function evaluate(
  { service, code, colors }: EvaluateTask,
  hosted: HostedService,
): Promise<EvaluationResult> {
  // @types/node lacks `replMode`.
  const parameters: Runtime.EvaluateParameterType & { replMode: true } = {
    expression: code,
    replMode: true,
    awaitPromise: true,
  }
  const session = new Session()
  session.connect()
  try {
    const { result, exceptionDetails } = await hosted.enter(
      { service, hops: 0 },
      async () => await session.post('Runtime.evaluate', parameters),
    )
    if (exceptionDetails !== undefined) return failure(exceptionDetails)
    const text =
      result.objectId === undefined ? primitiveText(result, colors) : await show(session, result.objectId, colors)
    return { ok: true, text: text.slice(0, mostText), isIncomplete: false }
  } finally {
    session.disconnect()
  }
}

interface Remote {
  readonly type: string
  readonly value?: unknown
  readonly unserializableValue?: string | undefined
}

/** `-0`, `NaN` and big integers have no JSON. */
function primitiveText({ type, value, unserializableValue }: Remote, colors: boolean): string {
  if (unserializableValue !== undefined) return unserializableValue
  return type === 'undefined' ? '' : inspect(value, { colors })
}

/** The object is shown where it is: a copy would lose its class. */
async function show(session: Session, objectId: string, colors: boolean): Promise<string> {
  const functionDeclaration = `function () { return process.getBuiltinModule('node:util').inspect(this, { colors: ${colors}, depth: 4 }) }`
  const { result } = await session.post('Runtime.callFunctionOn', { objectId, functionDeclaration })
  return String(result.value ?? result.description)
}

interface Thrown {
  readonly text: string
  readonly exception?: { readonly description?: string | undefined; readonly value?: unknown }
}

/** As V8 says that the code ends too early. */
const incomplete = /^SyntaxError: (?:Unexpected end of input|missing \) after argument list|Unterminated template)/

function failure({ text, exception }: Thrown): EvaluationResult {
  const shown = exception?.description ?? (exception === undefined ? text : inspect(exception.value))
  return { ok: false, text: shown.slice(0, mostText), isIncomplete: incomplete.test(shown) }
}
