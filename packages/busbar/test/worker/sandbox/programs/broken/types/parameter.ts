export class A {
  constructor(private readonly x: number) {}
}
