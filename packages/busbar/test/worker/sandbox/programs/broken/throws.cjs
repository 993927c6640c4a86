require('./throws-inside.cjs')
