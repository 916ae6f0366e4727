#!/bin/sh
# embed.sh FILE...: writes collector/web/page.h's table of these files as C to standard output. Each
# is there as it is and compressed; the ending of its name gives its type.
set -e
export LC_ALL=C

octets() { od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$/,/'; }
content_type() {
	case $1 in
	*.html) echo 'text/html; charset=utf-8' ;;
	*.css) echo 'text/css; charset=utf-8' ;;
	*.js) echo 'text/javascript; charset=utf-8' ;;
	*.svg) echo 'image/svg+xml' ;;
	*.png) echo 'image/png' ;;
	*.webmanifest | *.json) echo 'application/json' ;;
	*) echo "embed.sh: $1: unknown type of file" >&2; exit 1 ;;
	esac
}

echo '#include "collector/web/page.h"'
n=0
for file; do
	type=$(content_type "$file")
	printf '\nstatic const uint8_t plain_%d[] = {\n' $n
	octets <"$file"
	printf '};\nstatic const uint8_t gzip_%d[] = {\n' $n
	gzip -9nc "$file" | octets
	echo '};'
	n=$((n + 1))
done
printf '\nconst struct page_file page_files[] = {\n'
n=0
for file; do
	name=$(basename "$file" | sed 's/^chart\.min\.js$/chart.js/')
	# Browsers revalidate the page each time, mostly with 304; they keep the library for a day.
	keep=no-cache
	[ "$name" != chart.js ] || keep='max-age=86400'
	printf '\t{"%s", "%s", "\\"%s\\"", "%s", plain_%d, gzip_%d, sizeof(plain_%d), sizeof(gzip_%d)},\n' \
	    "$name" "$(content_type "$file")" "$(sha256sum "$file" | cut -c1-16)" "$keep" $n $n $n $n
	n=$((n + 1))
done
printf '\t{0},\n};\n'
