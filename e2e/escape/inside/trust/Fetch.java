import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class Fetch {
  public static void main(String[] given) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(given[0])).header("X-Key", System.getenv("API_KEY")).build();
    System.out.println(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
  }
}
