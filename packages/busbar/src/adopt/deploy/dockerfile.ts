import type { Deployment, PackageManager } from './deployment.ts'

const install: Readonly<Record<PackageManager, string>> = {
  npm: 'npm ci',
  pnpm: 'corepack enable && pnpm install --frozen-lockfile',
  yarn: 'corepack enable && yarn install --frozen-lockfile',
  none: 'npm install',
}

const prune: Readonly<Record<PackageManager, string>> = {
  npm: 'npm prune --omit=dev',
  pnpm: 'CI=true pnpm prune --prod',
  yarn: 'yarn install --frozen-lockfile --production',
  none: 'npm prune --omit=dev',
}

/** Two stages: tools for the build stay in the first. `node`: the major version. */
export function dockerfile(deployment: Deployment, node: number): string {
  const { folder, manager, builds, ports, probes, tls } = deployment
  const workdir = folder === '' ? '/app' : `/app/${folder}`
  const command = `${'../'.repeat(folder === '' ? 0 : folder.split('/').length)}node_modules/busbar/bin/busbar.js`
  const [gateway] = ports
  return [
    `FROM node:${node}-slim AS build`,
    'WORKDIR /app',
    'COPY . .',
    `RUN ${install[manager]}`,
    ...(builds
      ? folder === ''
        ? [`RUN node ${command} build`]
        : [`WORKDIR ${workdir}`, `RUN node ${command} build`, 'WORKDIR /app']
      : []),
    `RUN ${prune[manager]}`,
    '',
    `FROM node:${node}-slim`,
    'ENV NODE_ENV=production',
    `WORKDIR ${workdir}`,
    'COPY --from=build --chown=node:node /app /app',
    'USER node',
    `EXPOSE ${ports.map(({ port }) => port).join(' ')}`,
    ...(probes && !tls ? [`HEALTHCHECK CMD ${JSON.stringify(['node', '-e', probe(gateway!.port)])}`] : []),
    ...ports
      .slice(1)
      .filter(({ isPublic }) => !isPublic)
      .map(
        ({ name, port }) =>
          `# ${port} (${name}) listens on the loopback address: give its expose a host of '0.0.0.0' to open it.`,
      ),
    `CMD ${JSON.stringify(['node', command, ...startArguments(deployment)])}`,
    '',
  ].join('\n')
}

/** Nothing else is copied into an image. */
export const dockerignore = ['.git', '**/node_modules', '**/.env*', '**/*.log', 'Dockerfile', '.dockerignore', ''].join(
  '\n',
)

function startArguments({ ports, environment }: Deployment): string[] {
  // The gateway listens on the loopback address unless told otherwise, which nobody outside
  // reaches.
  const address = ['--host', '0.0.0.0', '--port', String(ports[0]!.port)]
  return ['start', ...address, ...(environment === undefined ? [] : ['--env', environment])]
}

function probe(port: number): string {
  return `fetch('http://127.0.0.1:${port}/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))`
}
