/** A straight line through points: `y = start + slope * x`. */
export interface StraightLine {
  readonly start: number;
  readonly slope: number;
  /** Standard error of the slope. */
  readonly error: number;
  /** Part of what y varies that the line explains: 1 when all points lie on it. */
  readonly fit: number;
}

/** The line of least squares. @throws Error with fewer than three points, or all at one x */
export function straightLine(points: readonly (readonly [x: number, y: number])[]): StraightLine {
  const count = points.length;
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / count;
  const [x, y] = [mean(0), mean(1)];
  const sum = (of: (dx: number, dy: number) => number) => points.reduce((all, [px, py]) => all + of(px - x, py - y), 0);
  const width = sum((dx) => dx * dx);
  if (count < 3 || width === 0)
    throw new Error(`no line goes through ${count} points over one x: at least three are needed`);
  const slope = sum((dx, dy) => dx * dy) / width;
  const left = sum((dx, dy) => (dy - slope * dx) ** 2);
  const whole = sum((_, dy) => dy * dy);
  return {
    start: y - slope * x,
    slope,
    error: Math.sqrt(left / (count - 2) / width),
    fit: whole === 0 ? 1 : 1 - left / whole,
  };
}
