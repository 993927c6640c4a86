import { registerHooks, stripTypeScriptTypes } from 'node:module'

registerHooks({
  load(url, context, next) {
    if (!url.endsWith('.ts') && !url.includes('.ts?')) return next(url, context)
    const { source } = next(url, { ...context, format: 'module' })
    return { format: 'module', source: stripTypeScriptTypes(String(source), { mode: 'transform' }), shortCircuit: true }
  },
})
