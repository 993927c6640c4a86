import './imports-type.ts'
