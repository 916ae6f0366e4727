#!/bin/bash
# The page behind nginx with the two configurations of conf/nginx, as they stand but for ports, paths and the account nginx
# runs as: who has a password, or whom what stands in for oauth2-proxy knows, reads page and data over TLS; who has none, or
# asks by another name, nothing; and beside nginx only who has the token. Prints PASS, FAIL or SKIP lines; exit 1 if one
# failed.
. "$(dirname "$0")/../../support/rig.sh"
for need in nginx openssl curl; do
	command -v "$need" >/dev/null || { skip 'all' "$need is not there"; exit 0; }
done
nginx_pid=''
trap 'rig_stop; rig_end "$nginx_pid"; rm -rf "$rig"' EXIT
name=ease.example.net token=the-token-of-easecapd.conf

rig_http=127.0.0.1:0
rig_new
echo "http_token = \"$token\"" >>"$rig/collector.conf"
rig_collector || { fail 'start' 'no collector'; exit 1; }
at=$(sed -n 's,^page at http://\(.*\)/$,\1,p' "$rig/collector.log")
[ -n "$at" ] || { skip 'all' 'built without the page'; exit 0; }

port=$(free_port) sso_port=$(free_port) sso=$(free_port)
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=$name" -addext "subjectAltName=DNS:$name" \
    -keyout "$rig/ease.key" -out "$rig/ease.pem" 2>/dev/null
echo "alice:$(openssl passwd -apr1 wonderland)" >"$rig/ease.users"
for of in "easeswitch $port" "easeswitch-oauth2 $sso_port"; do
	sed -e "s,listen 443,listen 127.0.0.1:${of#* }," -e "s,/etc/nginx/,$rig/," -e "s,127.0.0.1:8162,$at," \
	    -e "s,127.0.0.1:4180,127.0.0.1:$sso," "$top/conf/nginx/${of% *}.conf" >"$rig/${of% *}.conf"
done
expect 'all that was to be replaced is' "$(cat "$rig"/easeswitch*.conf | grep -c '/etc/nginx\|8162;\|4180;\|listen 443')" 0
cat >"$rig/nginx.conf" <<END
daemon off;
pid $rig/nginx.pid;
error_log $rig/nginx.log;
$([ "$(id -u)" != 0 ] || echo "user root;")
events { }
http {
	access_log off;
	client_body_temp_path $rig/temp1;
	proxy_temp_path $rig/temp2;
	fastcgi_temp_path $rig/temp3;
	uwsgi_temp_path $rig/temp4;
	scgi_temp_path $rig/temp5;
	include $rig/easeswitch*.conf;
	server {
		listen 127.0.0.1:$sso;
		location = /oauth2/auth {
			if (\$http_cookie != "_oauth2_proxy=alice") { return 401; }
			return 202;
		}
		location = /oauth2/sign_in { return 200 "log in, then to \$arg_rd"; }
	}
}
END
nginx -c "$rig/nginx.conf" -e "$rig/nginx.log" 2>"$rig/nginx.err" &
nginx_pid=$!
disown "$nginx_pid"
ask() { # PATH CURL-ARGUMENT...: the status; what comes is in $rig/body
	local path=$1
	shift
	curl -s -m 20 -o "$rig/body" -w '%{http_code}' --cacert "$rig/ease.pem" \
	    --resolve "*:$port:127.0.0.1" "$@" "https://$name:$port$path"
}
answers() { [ "$(ask /)" = 401 ]; }
wait_for 10 answers || { fail 'nginx' "$(cat "$rig/nginx.err" "$rig/nginx.log" 2>/dev/null | tail -n 2)"; exit 1; }

expect 'without a password: nothing' "$(ask /api/v1/status)" 401
expect 'with a wrong one: nothing' "$(ask /api/v1/status -u alice:looking-glass)" 401
expect 'the token is no password' "$(ask /api/v1/status -H "Authorization: Bearer $token")" 401
expect 'with the password: the page' "$(ask / -u alice:wonderland)" 200
expect 'it is the page' "$(grep -c '<title>' "$rig/body")" 1
expect 'and its data, without any token' "$(ask '/api/v1/talkers?last=all' -u alice:wonderland)" 200
expect 'as JSON' "$(jq -r .report "$rig/body")" talkers
expect 'a long answer, packed' "$(ask /page.js -u alice:wonderland --compressed)" 200
expect 'the page keeps strangers out by its headers, here too' \
    "$(curl -s --max-time 60 --cacert "$rig/ease.pem" --resolve "*:$port:127.0.0.1" -u alice:wonderland -D - -o "$rig/body" \
	"https://$name:$port/" | grep -ci '^content-security-policy:')" 1
expect 'by another name: no handshake' \
    "$(curl -s -k -m 20 -o "$rig/body" -w '%{http_code}' --resolve "*:$port:127.0.0.1" -u alice:wonderland \
	"https://evil.example:$port/")" 000
expect 'beside nginx: only with the token' \
    "$(curl -s --max-time 60 -o "$rig/body" -w '%{http_code}' "http://$at/api/v1/status")" 401
expect 'what listens is on loopback' "$(ss -Hltn "sport = :${at##*:}" | awk '{ print $4 }')" "$at"

# ---- who may read says another ----

sso() { # PATH CURL-ARGUMENT...: the same there
	local port=$sso_port
	ask "$@"
}
expect 'single sign-on: who is not logged in is sent to it' "$(sso '/api/v1/status?a=b' -L) $(cat "$rig/body")" \
    '200 log in, then to /api/v1/status?a=b'
expect 'single sign-on: what nginx asks of it is nobody else'"'"'s to ask' "$(sso /oauth2/auth -b _oauth2_proxy=alice)" 404
expect 'single sign-on: another cookie' "$(sso /api/v1/status -b _oauth2_proxy=mallory)" 302
expect 'single sign-on: the token is no login' "$(sso /api/v1/status -H "Authorization: Bearer $token")" 302
expect 'single sign-on: who is logged in reads the page' "$(sso / -b _oauth2_proxy=alice) $(grep -c '<title>' "$rig/body")" '200 1'
expect 'single sign-on: and its data' "$(sso '/api/v1/talkers?last=all' -b _oauth2_proxy=alice) $(jq -r .report "$rig/body")" \
    '200 talkers'
exit $failed
