/**
 * The operations of the admin API. Routing, validation, problem documents and the OpenAPI document
 * follow from this table; the commands of the command line call the same rows.
 */
import { getAdvice, getCosts, getSlowParts, measureCallCosts, tryAdvice } from './advice.ts'
import { getMetrics, getReady, getStatus, stopApp } from './app.ts'
import { callMethod, injectRequest } from './calls.ts'
import { moveService, reloadApp, restartApp, scaleService } from './changes.ts'
import { describeApp, getEnvironment } from './describe.ts'
import { evaluateCode, signalService, takeHeapSnapshot, takeProfile } from './diagnostics.ts'
import { readLogs } from './logs.ts'
import { getHealthz, getReadyz, getServiceHealthz, getServiceReadyz } from './probes.ts'
import { dropDeadLetter, listQueue, retryDeadLetter } from './queue.ts'
import { openApiOperation } from '../http/openapi.ts'
import { followApp } from './live.ts'
import { getReport, listReports } from './reports.ts'
import { getTrace, listTraces } from './traces.ts'
import type { Operation } from './operation.ts'

const rows = [
  getStatus,
  getReady,
  getHealthz,
  getServiceHealthz,
  getReadyz,
  getServiceReadyz,
  getMetrics,
  describeApp,
  getEnvironment,
  readLogs,
  followApp,
  listTraces,
  getTrace,
  getSlowParts,
  getAdvice,
  getCosts,
  measureCallCosts,
  tryAdvice,
  listQueue,
  retryDeadLetter,
  dropDeadLetter,
  listReports,
  getReport,
  stopApp,
  restartApp,
  reloadApp,
  scaleService,
  moveService,
  injectRequest,
  callMethod,
  signalService,
  takeHeapSnapshot,
  takeProfile,
  evaluateCode,
]

// An input is checked by the row's own schema before its handler sees it.
export const operations: readonly Operation[] = [
  openApiOperation(() => operations),
  ...(rows as unknown as readonly Operation[]),
]
