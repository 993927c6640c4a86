import * as z from 'zod'

/** The page's policy forbids to make code of text, which schemas do where they may: said before there are any. */
z.config({ jitless: true })
