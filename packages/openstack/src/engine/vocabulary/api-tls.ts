import type { IdentityAddress } from './addresses.ts';
import { certificateFiles, certificateMount } from './certificate.ts';
import type { Component } from './component.ts';
import type { Context } from './context.ts';
import { fieldFor, ownOffer } from './dependencies.ts';
import type { Service } from './service.ts';
import { proxyWithTls } from './tls-proxy.ts';

/** The port of an API with TLS, of the number of that without. */
const withTls = (port: number): number => port + 10_000;

/** The name of an API's port with TLS, of the name of that without. */
const named = (port: string): string => `${port}-tls`;

/** The authority of the APIs of the Keystone that a service refers to, or is; undefined where there is none. */
export function apiAuthority(service: Service, context: Context): IdentityAddress['apiAuthority'] {
  const knows = fieldFor(service, 'identity') !== undefined || ownOffer(service, 'identity') !== undefined;
  return knows ? context.identity.apiAuthority : undefined;
}

/** Ports at which a service's APIs answer, by component. */
function apiPorts({ identity }: Service, components: Readonly<Record<string, Component>>): ReadonlyMap<string, string> {
  const entries = identity?.catalogue ?? [];
  const registered = entries
    .flatMap(({ component, internal, port }) =>
      [component, ...(internal === undefined ? [] : [internal])].map((name) => [name, port] as const),
    )
    .filter(([name]) => Object.hasOwn(components, name));
  const others = Object.entries(components).flatMap(([name, { internalApi }]) =>
    internalApi === undefined ? [] : [[name, internalApi] as const],
  );
  return new Map([...registered, ...others]);
}

/**
 * The components of a service. Where its Keystone has an authority, its APIs serve TLS at ports of their own, beside those
 * without, where gateways and probes go.
 */
export function componentsOf(service: Service, context: Context): Readonly<Record<string, Component>> {
  const components = service.components(context);
  if (apiAuthority(service, context) === undefined) return components;
  const ports = apiPorts(service, components);
  return Object.fromEntries(
    Object.entries(components).map(([name, component]) => {
      const port = ports.get(name);
      return [name, port === undefined ? component : serving(component, port, context)];
    }),
  );
}

function serving(component: Component, name: string, context: Context): Component {
  const { ports = {}, reachable, mounts = [] } = component;
  const port = ports[name];
  if (port === undefined) return component;
  return {
    ...component,
    ...encrypting(component, named(name), port),
    ports: { ...ports, [named(name)]: withTls(port) },
    mounts: [...mounts, certificateMount(context, { issuer: context.identity.apiAuthority?.issuer })],
    ...(Array.isArray(reachable) && reachable.includes(name) ? { reachable: [...reachable, named(name)] } : {}),
  };
}

/** Who serves TLS: uwsgi itself; for any other server, a proxy in its pod. `name`: of the port with TLS; `port`: that without. */
function encrypting({ runs, sidecars = [] }: Component, name: string, port: number): Partial<Component> {
  if (!('wsgi' in runs)) return { sidecars: [...sidecars, proxyWithTls(name, withTls(port), port)] };
  const { certificate, key } = certificateFiles;
  const ini = {
    'https-socket': `0.0.0.0:${withTls(port)},${certificate},${key}`,
    // The master reads a renewed certificate when it starts anew, and keeps its sockets: no request is lost.
    'touch-reload': certificate,
  };
  return { runs: { ...runs, ini: { ...runs.ini, ...ini } } };
}

/** Names of the Services at which a service's APIs answer with TLS: suffixes. */
export function suffixesWithTls(service: Service, components: Readonly<Record<string, Component>>): string[] {
  return [...apiPorts(service, components).keys()].flatMap((name) => {
    const component = components[name];
    return component === undefined ? [] : [component.suffix ?? name];
  });
}

/** Scheme and port of an API as its clients inside the cluster go there. `port`: of a component, the name of that without TLS. */
export function reachedAt(
  component: Component,
  port: string,
  context: Context,
): { readonly scheme: string; readonly port: number | undefined } {
  const secure = component.ports?.[named(port)];
  const { inCatalogue = false } = context.identity.apiAuthority ?? {};
  return inCatalogue && secure !== undefined
    ? { scheme: 'https', port: secure }
    : { scheme: 'http', port: component.ports?.[port] };
}

/** Scheme and port of another service's API as clients inside the cluster go there; `port`: without TLS. */
export function apiAt(
  { apiAuthority: authority }: Pick<IdentityAddress, 'apiAuthority'>,
  port: number,
): { readonly scheme: 'http' | 'https'; readonly port: number } {
  return authority?.inCatalogue === true ? { scheme: 'https', port: withTls(port) } : { scheme: 'http', port };
}

/** URL of an API inside the cluster; `port`: without TLS. */
export function apiUrl(identity: Pick<IdentityAddress, 'apiAuthority'>, host: string, port: number): string {
  const at = apiAt(identity, port);
  return `${at.scheme}://${host}:${at.port}`;
}
