import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { headerOf, plain } from '../../http.ts';
import { SwiftError } from './swift-conf.ts';

/** The filter `storlet_handler` of a proxy (storlets.swift_middleware 15.0). */
export interface StorletHandler {
  /** What `/info` says of it. */
  readonly info: Readonly<Record<string, string>>;
  /**
   * What becomes of a request for an account, a container or an object: an answer, or undefined where it goes on as if there
   * were no storlets.
   */
  readonly handle: (request: HttpMessage, names: readonly string[], proxy: Proxy) => Promise<HttpReply | undefined>;
}

/** What it asks the proxy. */
interface Proxy {
  /** Whether an account lets storlets run. */
  readonly isEnabled: (account: string) => Promise<boolean>;
  readonly isThere: (names: readonly string[]) => Promise<boolean>;
}

const denied =
  'Failed to verify access to the storlet. Either the storlet does not exist or you are not authorized to run the storlet.';

/**
 * The filter, by its options; undefined where no request passes it. Of its gateways only `stub` is known, which gives back
 * what it is given. @throws SwiftError for options that it does not take
 */
export function storletHandler(options: Readonly<Record<string, string>> | undefined): StorletHandler | undefined {
  if (options === undefined) return undefined;
  const {
    execution_server: server,
    storlet_gateway_module: gateway = 'stub',
    storlet_container: storlets = 'storlet',
    storlet_dependency: dependencies = 'dependency',
  } = options;
  if (gateway === 'docker') throw new SwiftError('no model knows the gateway docker');
  if (gateway !== 'stub') throw new SwiftError(`Invalid class path is given for gateway class name ${gateway}`);
  if (server === 'object') throw new SwiftError('no model knows storlets in object servers');
  if (server !== 'proxy')
    throw new SwiftError(
      `configuration error: execution_server must be either proxy or object but is ${server ?? 'None'}`,
    );
  const info = {
    storlet_container: storlets,
    storlet_dependency: dependencies,
    storlet_gateway_class: 'StubStorletGateway',
  };
  return {
    info,
    handle: async (request, [account = '', container, ...object], { isEnabled, isThere }) => {
      if (container === undefined) return undefined;
      if (headerOf(request, 'referer')?.includes('storlets') === true)
        return plain(403, 'Referrer containing storlets is not allowed');
      const { method } = request;
      const isObject = object.length > 0;
      const storlet = isObject ? headerOf(request, 'x-run-storlet') : undefined;
      const isFile = isObject && [storlets, dependencies].includes(container) && ['PUT', 'POST'].includes(method);
      const isRight = !isObject && method === 'POST' && headerOf(request, 'x-storlet-container-read') !== undefined;
      if (storlet === undefined && !isFile && !isRight) return undefined;
      if (!(await isEnabled(account))) return plain(400, 'Account disabled for storlets');
      if (isRight) return plain(501, 'this simulated proxy-server knows no rights of storlets');
      if (storlet === undefined || isFile) return undefined;
      if (!['GET', 'PUT'].includes(method)) return plain(405, 'Method Not Allowed');
      if (method === 'GET' && headerOf(request, 'range') !== undefined)
        return plain(400, 'Storlet execution with range header is not supported');
      return (await isThere([account, storlets, storlet])) ? undefined : plain(401, denied);
    },
  };
}
