import { useState } from 'preact/hooks'
import { get } from '../../api/client.ts'
import type { Description } from '../../api/types.ts'
import { Card, Empty } from '../../parts/card.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useResource } from '../../parts/resource.ts'
import { shape } from '../../state/live.ts'
import { Requests } from './requests.tsx'

export function ApiPage() {
  const resource = useResource(() => get<Description>('/describe'), shape.value)
  const described = resource.value
  const [isShown, show] = useState(false)
  const reference = described?.reference == null ? undefined : reached(described.reference)
  return (
    <div class="page">
      <header>
        <h1>API</h1>
        {described !== undefined && (
          <p class="lead row">
            {described.addresses.map(({ url, serves }) => (
              <span key={url}>
                <a href={reached(url)} target="_blank" rel="noreferrer">
                  {reached(url)}
                </a>{' '}
                {serves}
              </span>
            ))}
          </p>
        )}
      </header>
      <Failure of={resource} title="What describes the app cannot be read" />
      {described !== undefined && <Requests description={described} />}
      <Card
        title="Reference"
        end={
          reference !== undefined && (
            <>
              <button class="compact" aria-expanded={isShown} onClick={() => show(!isShown)}>
                {isShown ? 'Hide' : 'Show here'}
              </button>
              <a class="button" href={reference} target="_blank" rel="noreferrer">
                Open <Icon name="out" size={14} />
              </a>
            </>
          )
        }
      >
        {described === undefined ? (
          <p class="dim">Not known yet.</p>
        ) : reference === undefined ? (
          <Empty title="The gateway shows no API reference" code={'gateway: { openapi: true }'}>
            Typed services have a document by their contracts, programs by <code>services.&lt;name&gt;.openapi</code>.
          </Empty>
        ) : isShown ? (
          <iframe class="reference" src={reference} title="The API reference of the app" />
        ) : (
          <p class="dim">The app’s own documents on one page, from which you can make calls through the gateway.</p>
        )}
      </Card>
    </div>
  )
}

/** A port that is open on all addresses, by the name that this page was reached by. */
function reached(address: string): string {
  const url = new URL(address)
  if (/^(?:0\.0\.0\.0|\[::\])$/.test(url.hostname)) url.hostname = location.hostname
  return url.href
}
