import type { Told } from '../../engine/vocabulary/service.ts';
import type { CephStorageSpec, CephStorageStatus } from './kind.ts';

/** What the status says of how a cluster is, and of what it holds. */
type Usage = Pick<CephStorageStatus, 'health' | 'capacity' | 'pools' | 'fileSystems'>;

/** Bytes in a pool: what clients have stored, what that takes with all copies, and how much more they may store. */
interface Figures {
  readonly stored: number;
  readonly used: number;
  readonly available: number;
}

/** The first line of `ceph health detail`, and what follows it there. */
const healthLine = /^(HEALTH_(?:OK|WARN|ERR))(?: (.*))?$/;

const numbers = (...names: readonly string[]) => names.map((name) => `"${name}":(\\d+)`).join(',');
const capacityLine = new RegExp(`^\\{${numbers('total', 'used', 'available')}\\}$`);
const poolLine = new RegExp(`^\\{"pool":"([^"]+)",${numbers('stored', 'used', 'available')}\\}$`);
const fileSystemLine = /^\{"fileSystem":"([^"]+)","pools":"([^"]*)"\}$/;

/**
 * What the status says of a cluster, from the lines that the check has left (`tryAll`). Figures stay until there are others;
 * the health does not: of a cluster that gives no answer, nothing is known.
 */
export function usageTold(spec: CephStorageSpec, words: readonly string[], before: Told): Told {
  const { health: healthBefore, ...figuresBefore } = usageOf(before);
  if (words.length === 0) return { ...figuresBefore, ...(healthBefore && { health: healthBefore }) };
  const matching = (line: RegExp) => words.flatMap((word) => [line.exec(word)].filter((match) => match !== null));
  const [health] = matching(healthLine).map(([, status = '', message]) => ({
    status,
    ...(message && { message: message.slice(0, 4096) }),
  }));
  const [capacity] = matching(capacityLine).map(([, total, used, available]) => ({
    total: quantity(Number(total)),
    used: quantity(Number(used)),
    available: quantity(Number(available)),
  }));
  if (capacity === undefined) return { ...figuresBefore, ...(health && { health }) };
  const byPool = new Map(
    matching(poolLine).map(([, name = '', stored, used, available]): [string, Figures] => [
      name,
      { stored: Number(stored), used: Number(used), available: Number(available) },
    ]),
  );
  const poolsOf = new Map(matching(fileSystemLine).map(([, name = '', pools = '']) => [name, pools.split(' ')]));
  const pools = [...new Set((spec.pools ?? []).map(({ name }) => name))].flatMap((name) => {
    const purposes = (spec.pools ?? []).flatMap((one) => (one.name === name ? [one.purpose] : []));
    const figures = byPool.get(name);
    return figures === undefined ? [] : [{ name, purposes, ...quantities(figures) }];
  });
  const fileSystems = (spec.fileSystems ?? []).flatMap(({ name }) => {
    const held = (poolsOf.get(name) ?? []).flatMap((pool) => byPool.get(pool) ?? []);
    return held.length === 0 ? [] : [{ name, ...quantities(held.reduce(together)) }];
  });
  return {
    ...(health && { health }),
    capacity,
    ...(pools.length > 0 && { pools }),
    ...(fileSystems.length > 0 && { fileSystems }),
  };
}

function usageOf({ health, capacity, pools, fileSystems }: Told): Usage {
  return Object.fromEntries(
    Object.entries({ health, capacity, pools, fileSystems }).filter(([, value]) => value !== undefined),
  );
}

/** Of data pools of one filesystem, which may be on the same devices: a file is in one of them. */
function together(one: Figures, other: Figures): Figures {
  return {
    stored: one.stored + other.stored,
    used: one.used + other.used,
    available: Math.max(one.available, other.available),
  };
}

const quantities = ({ stored, used, available }: Figures) => ({
  stored: quantity(stored),
  used: quantity(used),
  available: quantity(available),
});

const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Bytes as a quantity of three digits, such as 1.23Gi: more would change with every run. */
export function quantity(bytes: number): string {
  const unit = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  return `${Number((bytes / 1024 ** unit).toPrecision(3))}${units[unit]}`;
}
