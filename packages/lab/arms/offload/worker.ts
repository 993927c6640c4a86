/** A thread that computes one number. */
import { parentPort, workerData } from 'node:worker_threads'
import fibonacci from './fibonacci.ts'

parentPort?.postMessage(fibonacci(workerData as number))
