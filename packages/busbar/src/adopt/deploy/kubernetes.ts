import type { Deployment } from './deployment.ts'
import { yamlText } from '../yaml-file.ts'

/** A Deployment and a Service. */
export function kubernetes(deployment: Deployment): string {
  const comment = deployment.probes
    ? ''
    : '# With gateway.probes: true in the config, the probes could ask /readyz and /healthz.\n'
  const documents = [workload(deployment), service(deployment)]
  return comment + documents.map(yamlText).join('---\n')
}

function workload(deployment: Deployment): object {
  const { name, version, ports, stopSeconds } = deployment
  const labels = labelsOf(deployment)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: stopSeconds,
          // Programs need no access to the API of the cluster.
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name,
              image: `${name}:${version}`,
              ports: ports.map((one) => ({ name: one.name, containerPort: one.port })),
              envFrom: [{ secretRef: { name, optional: true } }],
              ...probes(deployment),
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
            },
          ],
          volumes: [{ name: 'tmp', emptyDir: {} }],
        },
      },
    },
  }
}

/** The gateway's port, and what the config opens besides. */
function service(deployment: Deployment): object {
  const { name, ports } = deployment
  const reached = ports.filter(({ isPublic }, index) => index === 0 || isPublic)
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, labels: labelsOf(deployment) },
    spec: {
      selector: labelsOf(deployment),
      ports: reached.map((one) => ({ name: one.name, port: one.port, targetPort: one.name })),
    },
  }
}

function labelsOf({ name }: Deployment): Record<string, string> {
  return { 'app.kubernetes.io/name': name }
}

function probes({ probes: hasPaths, tls }: Deployment): object {
  const scheme = tls ? { scheme: 'HTTPS' } : {}
  const asks = (path: string): object =>
    hasPaths ? { httpGet: { path, port: 'http', ...scheme } } : { tcpSocket: { port: 'http' } }
  return {
    readinessProbe: asks('/readyz'),
    livenessProbe: { ...asks('/healthz'), periodSeconds: 10, failureThreshold: 6 },
  }
}
