import express, { Request } from 'express'

export default express().get('/', (_req: Request) => {})
