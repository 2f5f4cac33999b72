export function demoCommand(): void {}
