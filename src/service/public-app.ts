/** The public app with its pages and pictures, as the one thread that does everything builds it, or one of several. */
import { picturesFolder, samplesFolder } from '#catalogue/files.ts';
import { openPictures } from '#catalogue/pictures.ts';
import type { PublicPorts, ReferencePort } from '#http/ports.ts';
import { doorOf, pagesOf, scriptOf, shopOf } from '#http/pages/bundle.ts';
import type { HttpApp } from '#http/protocol/app.ts';
import { buildPublicApp } from '#http/server/apps.ts';
import type { Config } from './config.ts';

const REFERENCE_SCRIPT = new URL('../web/reference/main.ts', import.meta.url);

interface BuyersAppPorts extends Omit<PublicPorts, 'settings' | 'pictures' | 'storefront' | 'example' | 'door'> {
  readonly config: Config;
  /** Whether the demo catalogue may be shown. */
  readonly demo: boolean;
}

export function buildBuyersApp({ config, demo, ...ports }: BuyersAppPorts): Promise<HttpApp> {
  return buildPublicApp({
    ...ports,
    settings: config,
    ...picturesOf(config, demo),
    storefront: shopOf(new URL('../web/storefront/', import.meta.url)),
    example: pagesOf(new URL('../web/example/', import.meta.url), '/example/'),
    door: doorOf(new URL('../web/door/', import.meta.url), '/door'),
  });
}

/** What the pages of the API reference need. */
export function referenceOf(origins: ReferencePort['origins']): ReferencePort {
  return { origins, script: scriptOf(REFERENCE_SCRIPT) };
}

/** The pictures that events name, where a folder for them is known. */
function picturesOf({ pictures, catalog }: Config, demo: boolean): Pick<PublicPorts, 'pictures'> {
  const ofCatalog = catalog ?? (demo ? samplesFolder : null);
  const folder = pictures ?? (ofCatalog === null ? null : picturesFolder(ofCatalog));
  return folder === null ? {} : { pictures: openPictures(folder) };
}
