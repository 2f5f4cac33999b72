/** What a file that is no oslo.config file says, as JSON has it. In a layer, a null in a map takes its key away. */
export type Data = string | number | boolean | null | readonly Data[] | DataMap;

/** A map of data. */
export interface DataMap {
  readonly [key: string]: Data;
}

/** Whether data are a map. */
export function isMap(data: Data | undefined): data is DataMap {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

/** Lays later layers over earlier ones, as those of oslo.config files: maps merge, all else is replaced, null deletes. */
export function overlaid(under: Data, ...layers: readonly (Data | undefined)[]): Data {
  return layers.reduce<Data>((below, layer) => {
    if (layer === undefined) return below;
    if (!isMap(layer)) return layer;
    const result: Record<string, Data> = isMap(below) ? { ...below } : {};
    for (const [key, value] of Object.entries(layer)) {
      if (value === null) delete result[key];
      else result[key] = overlaid(result[key] ?? {}, value);
    }
    return result;
  }, under);
}
