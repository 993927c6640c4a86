import * as z from 'zod'

/**
 * The page's CSP forbids code generation, which zod uses by default. Must run before schemas are
 * created.
 */
z.config({ jitless: true })
