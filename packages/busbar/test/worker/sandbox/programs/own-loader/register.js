import { registerHooks, stripTypeScriptTypes } from 'node:module'

// Compiles the two constructs in these files. Node 26 no longer transforms them itself.
function transform(source) {
  return source
    .replace(/enum (\w+) \{([^}]*)\}/g, (_, name, body) => `const ${name} = {${body.replaceAll('=', ':')}}`)
    .replace(/namespace (\w+) \{\s*export const (\w+) = ([^}]*?)\s*\}/g, 'const $1 = { $2: $3 }')
}

registerHooks({
  load(url, context, next) {
    if (!url.endsWith('.ts') && !url.includes('.ts?')) return next(url, context)
    const { source } = next(url, { ...context, format: 'module' })
    return { format: 'module', source: stripTypeScriptTypes(transform(String(source))), shortCircuit: true }
  },
})
