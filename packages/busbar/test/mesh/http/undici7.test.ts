import { testUndici } from './support/undici/suite.ts'

testUndici('undici7')
