import { useMemo } from 'preact/hooks'
import { detailsOf, levels, type LogLine, traceOf } from '../state/log-lines.ts'
import { linkTo } from '../state/route.ts'

/** A line of the log, which opens if it has more fields. */
export function Line({ line }: { readonly line: LogLine }) {
  const { level, service, text } = line
  const { time, fields } = useMemo(() => detailsOf(line), [line])
  const name = levels.findLast((one) => one.level <= level)?.name ?? 'trace'
  const trace = traceOf(fields)
  const more = Object.keys(fields).length > 0
  const message = (
    <>
      <time>{time}</time>
      <span class={`level ${name}`}>{name}</span>
      <span class="source">{service ?? 'busbar'}</span>
      <span class="message">{text}</span>
    </>
  )
  if (!more) return <div class="line">{message}</div>
  return (
    <details class="line">
      <summary>{message}</summary>
      <pre>{JSON.stringify(fields, undefined, 2)}</pre>
      {trace !== undefined && <a href={linkTo('traces', trace)}>its trace</a>}
    </details>
  )
}
