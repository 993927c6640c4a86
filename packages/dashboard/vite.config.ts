import { defineConfig } from 'vite'

// The output goes into the built package of `busbar`, whose admin port serves it.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../busbar/dist/dashboard',
    emptyOutDir: true,
    // The policy of the page allows no code and no styles in other places than its own files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' },
    chunkSizeWarningLimit: 400,
  },
})
