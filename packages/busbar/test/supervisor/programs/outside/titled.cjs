// What somebody preloads for purposes of their own.
globalThis.TITLED = true
